import type { Process } from '@vitrine/protocol'
import { eventually } from '../waiting/within.ts'

/** The output that one viewer of a process has received so far. */
export interface Screen {
  readonly text: string
  readonly bytes: Buffer
  /** Waits for a text after the position of the previous match, and returns the match. */
  shows(text: string | RegExp): Promise<string>
  /** Resolves when the view ends; with the error if the view failed. */
  readonly ended: Promise<unknown>
}

export function watch(process: Process, signal?: AbortSignal): Screen {
  const chunks: Buffer[] = []
  let text = ''
  let from = 0
  const decoder = new TextDecoder()
  const run = async () => {
    for await (const { data } of process.view(signal === undefined ? {} : { signal })) {
      chunks.push(Buffer.from(data))
      text += decoder.decode(data, { stream: true })
    }
  }
  const ended = run().catch((error: unknown) => error)
  return {
    get text() {
      return text
    },
    get bytes() {
      return Buffer.concat(chunks)
    },
    ended,
    async shows(wanted) {
      const pattern = typeof wanted === 'string' ? new RegExp(escaped(wanted)) : wanted
      const found = () => pattern.exec(text.slice(from))
      try {
        await eventually(`${wanted} on the screen`, () => found() !== null)
      } catch (error) {
        throw new Error(`${String(error)} It shows: ${JSON.stringify(text.slice(from))}`)
      }
      const match = found()
      from += (match?.index ?? 0) + (match?.[0].length ?? 0)
      return match?.[0] ?? ''
    },
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
