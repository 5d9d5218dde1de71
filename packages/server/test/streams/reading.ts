import type { Journal } from '@vitrine/journal'
import type { ResponseJson, TestDaemon } from '../daemon.ts'
import { type Frame, framesOf } from '../frames.ts'

export function openStream(
  daemon: TestDaemon,
  query = '',
  headers: Record<string, string> = {},
): Promise<Response> {
  return daemon.fetch(`/v1/events${query}`, { headers: { accept: 'text/event-stream', ...headers } })
}

export function journalOf(daemon: TestDaemon, id: string = daemon.sandbox): Promise<Journal> {
  return daemon.host.store.journal(id)
}

/** Notes with numbers, in batches. */
export async function append(journal: Journal, from: number, to: number, batch = 100): Promise<void> {
  for (let at = from; at < to; at += batch)
    await journal.append(
      Array.from({ length: Math.min(batch, to - at) }, (_, index) => note(String(at + index))),
    )
}

export function note(message: string) {
  return { type: 'log.message' as const, data: { level: 'info' as const, message } }
}

/** The numbers in the order they came, up to one; every cursor on the way. */
export async function numbersUntil(
  response: Response,
  last: number,
): Promise<{ numbers: number[]; frames: Frame[]; cursor: string }> {
  const numbers: number[] = []
  const frames: Frame[] = []
  for await (const frame of framesOf(response)) {
    frames.push(frame)
    if (frame.event !== 'message' || frame.data.type !== 'log.message') continue
    numbers.push(Number(frame.data.data.message))
    if (numbers.at(-1) === last) return { numbers, frames, cursor: frame.id! }
  }
  throw new Error(`The stream ended after ${numbers.at(-1)}.`)
}

export function upTo(count: number, from = 0): number[] {
  return Array.from({ length: count - from }, (_, index) => from + index)
}

export function isEvent(frame: Frame): boolean {
  return frame.event === 'message'
}

export function seqs(frames: readonly Frame[]): number[] {
  return frames.filter(isEvent).map(({ data }: { data: ResponseJson }) => data.seq)
}
