import type { EncodedEvent } from '@vitrine/journal'

/** Larger chunks get their own memory, so that a stream does not hold a large buffer. */
const maxReusedBytes = 256 * 1024

/**
 * Joins the frames of events into chunks. Each frame is encoded once for all readers and copied into a buffer of the
 * stream, which is reused: the garbage of a hundred streams would take more memory than the streams. A chunk is valid
 * until the next one is created.
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

/** Only events advance a reader's cursor, so a gap has no id. */
function eventFrame({ isEvent, cursor, json }: EncodedEvent): Uint8Array {
  return Buffer.from(`${isEvent ? `id: ${cursor}` : 'event: gap'}\ndata: ${json}\n\n`)
}

/** A frame with an event name, JSON, and the id from which a reader goes on. */
export function frame(event: string | undefined, data: unknown, id?: string): Uint8Array {
  const head = `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}`
  return Buffer.from(`${head}data: ${JSON.stringify(data)}\n\n`)
}
