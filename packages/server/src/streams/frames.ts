import type { Delivery } from '@vitrine/journal'

/** Each frame is made once for all readers, and copied for each: what one does with its chunk is nobody else's. */
export function eventFrames(deliveries: readonly Delivery[]): Uint8Array {
  return Buffer.concat(deliveries.map((delivery) => delivery.frame(eventFrame)))
}

/** Only an event moves a reader on, so only an event has an id. */
function eventFrame({ isEvent, cursor, json }: Delivery): Uint8Array {
  return Buffer.from(`${isEvent ? `id: ${cursor}` : 'event: gap'}\ndata: ${json}\n\n`)
}

/** Anything else: a name and JSON. */
export function frame(event: string | undefined, data: unknown): Uint8Array {
  return Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`)
}
