import type { EncodedEvent } from '@vitrine/journal'

/** Larger chunks have memory of their own, so that a stream keeps little. */
const maxReusedBytes = 256 * 1024

/**
 * Joins the frames of events into chunks. Each frame is made once for all readers, and copied into memory that belongs
 * to one stream, since the garbage of a hundred streams would take more than the streams do: a chunk is valid until the
 * next one is made.
 */
export class FrameJoiner {
  #buffer = Buffer.alloc(0)

  join(events: readonly EncodedEvent[]): Uint8Array {
    const frames = events.map((event) => event.frame(eventFrame))
    const length = frames.reduce((sum, { byteLength }) => sum + byteLength, 0)
    if (length > maxReusedBytes) return Buffer.concat(frames)
    if (length > this.#buffer.byteLength) this.#buffer = Buffer.allocUnsafeSlow(length)
    let end = 0
    for (const one of frames) {
      this.#buffer.set(one, end)
      end += one.byteLength
    }
    return this.#buffer.subarray(0, length)
  }
}

/** Only an event moves a reader on, so only an event has an id. */
function eventFrame({ isEvent, cursor, json }: EncodedEvent): Uint8Array {
  return Buffer.from(`${isEvent ? `id: ${cursor}` : 'event: gap'}\ndata: ${json}\n\n`)
}

/** Anything else: a name and JSON. */
export function frame(event: string | undefined, data: unknown): Uint8Array {
  return Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`)
}
