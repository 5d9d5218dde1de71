import { localOptions, parseAs } from '@vitrine/protocol/options'

export interface EgressLimits {
  /** At once; default 256. */
  readonly connections?: number
  /** For finding a name's addresses, and again for trying them all; default 10 s. */
  readonly dialMs?: number
  /** For the head of a request to arrive, also of the next one on the same connection; default 10 s. */
  readonly headerMs?: number
  /** Without a byte in either direction; default none. */
  readonly idleMs?: number
}

export function reachLimits(given: EgressLimits) {
  parseAs('limits', localOptions.reachLimits, given)
  const { connections = 256, dialMs = 10_000, headerMs = 10_000, idleMs } = given
  return { connections, dialMs, headerMs, idleMs }
}
