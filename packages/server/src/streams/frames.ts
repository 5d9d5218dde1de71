import type { Delivery } from '@vitrine/journal'

const encoder = new TextEncoder()
const end = encoder.encode('\n\n')

/** Only an event moves a reader on, so only an event has an id. */
export function eventFrames(deliveries: readonly Delivery[]): Uint8Array {
  const parts: Uint8Array[] = []
  for (const delivery of deliveries) {
    const head = delivery.isEvent ? `id: ${delivery.cursor}\ndata: ` : 'event: gap\ndata: '
    parts.push(encoder.encode(head), delivery.bytes, end)
  }
  return Buffer.concat(parts)
}

/** Anything else: a name and JSON. */
export function frame(event: string | undefined, data: unknown): Uint8Array {
  return encoder.encode(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`)
}
