import { VitrineError } from '@vitrine/protocol'

export interface ReachLimits {
  /** At once; default 256. */
  readonly connections?: number
  /** For finding a name's addresses, and again for trying them all; default 10 s. */
  readonly dialMs?: number
  /** For the head of a request to arrive, also of the next one on the same connection; default 10 s. */
  readonly headerMs?: number
  /** Without a byte in either direction; default none. */
  readonly idleMs?: number
}

const longestTimer = 2 ** 31 - 1

export function reachLimits({ connections = 256, dialMs = 10_000, headerMs = 10_000, idleMs }: ReachLimits) {
  check('limits.connections', connections)
  check('limits.dialMs', dialMs)
  check('limits.headerMs', headerMs)
  if (idleMs !== undefined) check('limits.idleMs', idleMs)
  return { connections, dialMs, headerMs, idleMs }
}

function check(argument: string, value: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= longestTimer) return
  throw new VitrineError(
    'argument_invalid',
    `${argument}: expected a whole number from 1 to ${longestTimer}, got ${value}.`,
    { details: { argument } },
  )
}
