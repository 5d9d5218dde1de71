import { VitrineError } from '@vitrine/protocol'

/** Waits until a stream has taken what is written to it. */
export function written(write: (done: (error?: Error | null) => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    write((error) => {
      if (error)
        reject(new VitrineError('input_closed', 'The process has closed its input.', { cause: error }))
      else resolve()
    })
  })
}
