import type { StreamEnd } from '@vitrine/archives'
import type { Journal } from '@vitrine/journal'
import type { OperationData } from './operation-data.ts'

/** Operations whose streams are still open. A shutdown waits until their ends are written. */
export class OpenStreams {
  readonly #running = new Set<Promise<unknown>>()

  /**
   * Runs an operation that lasts as long as its stream. `open` gets the function to call when the stream ends, fails or
   * is cancelled. A stream that has ended before `open` returns is handed over once its end is committed.
   */
  operate(
    journal: Journal,
    op: string,
    data: OperationData,
    open: (onEnd: (end: StreamEnd, error?: unknown) => void) => ReadableStream<Uint8Array>,
    finish: () => OperationData = () => ({}),
  ): Promise<ReadableStream<Uint8Array>> {
    const opened = Promise.withResolvers<ReadableStream<Uint8Array>>()
    let stream: ReadableStream<Uint8Array> | undefined
    const operation = journal.operate(
      op,
      data,
      async () => {
        const streamEnd = Promise.withResolvers<StreamEnd>()
        let hasEnded = false
        stream = open((end, error) => {
          hasEnded = true
          if (error === undefined) streamEnd.resolve(end)
          else streamEnd.reject(error)
        })
        if (!hasEnded) opened.resolve(stream)
        return streamEnd.promise
      },
      {
        finish: ({ bytes, left }) => ({ bytes, ...(left && { outcome: 'cancelled' as const }), ...finish() }),
      },
    )
    const running = operation
      // Once the stream is handed over, its reader gets the error from the stream.
      .then(() => opened.resolve(stream!), opened.reject)
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
    return opened.promise
  }

  async ended(): Promise<void> {
    await Promise.allSettled(this.#running)
  }
}
