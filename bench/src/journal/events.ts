import type { EventInput } from '@vitrine/protocol'

const filler = 'abcdefghij klmnopqrst '.repeat(10)

/** An event whose message has 100 bytes and differs from its neighbours'. */
export function smallEvent(index: number): EventInput {
  return { type: 'log.message', data: { level: 'info', message: `${index} ${filler}`.slice(0, 100) } }
}
