import type { Delivery } from '@vitrine/journal'

/** What is recent is put into bytes once for all readers: nobody may change what comes out here. */
export function eventFrames(deliveries: readonly Delivery[]): Uint8Array {
  const frames = deliveries.map((delivery) => delivery.frame(eventFrame))
  return frames.length === 1 ? frames[0]! : Buffer.concat(frames)
}

/** Only an event moves a reader on, so only an event has an id. */
function eventFrame({ isEvent, cursor, json }: Delivery): Uint8Array {
  return Buffer.from(`${isEvent ? `id: ${cursor}` : 'event: gap'}\ndata: ${json}\n\n`)
}

/** Anything else: a name and JSON. */
export function frame(event: string | undefined, data: unknown): Uint8Array {
  return Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`)
}
