import type { LifeTimes } from '@vitrine/protocol'

/** The times that the end of a sandbox depends on, as `Date.now()` counts them. */
export interface LifeFacts {
  readonly createdAt: number
  /** Undefined while it does not run. */
  readonly startedAt: number | undefined
  /** Since when nothing is active in it; undefined while something is. */
  readonly idleSince: number | undefined
}

/** Why a host stops a sandbox until its next use. */
export type AutoStopReason = 'idle' | 'max_age'

/** The next end of a sandbox: it is destroyed for `ttl`, and stopped for the others. */
export interface Due {
  readonly at: number
  readonly reason: 'ttl' | AutoStopReason
}

/** The first end that the life times demand; of those at the same time, the destruction, then the age. */
export function nextDue({ ttlMs, maxAgeMs, idleStopMs }: LifeTimes, facts: LifeFacts): Due | undefined {
  const ends = [
    dueAfter('ttl', facts.createdAt, ttlMs),
    dueAfter('max_age', facts.startedAt, maxAgeMs),
    dueAfter('idle', facts.startedAt === undefined ? undefined : facts.idleSince, idleStopMs),
  ]
  return ends
    .filter((due) => due !== undefined)
    .reduce<Due | undefined>(
      (first, due) => (first === undefined || due.at < first.at ? due : first),
      undefined,
    )
}

/** A creation time that cannot be read is NaN: it must not make anything due. */
function dueAfter(reason: Due['reason'], from: number | undefined, ms: number | undefined): Due | undefined {
  return from === undefined || Number.isNaN(from) || ms === undefined ? undefined : { at: from + ms, reason }
}
