import type { LifeTimes } from '@vitrine/protocol'

/** The given life times alone, of the options or of the record of a sandbox. */
export function lifeTimesOf({ idleStopMs, maxAgeMs, ttlMs }: LifeTimes): LifeTimes {
  return {
    ...(idleStopMs !== undefined && { idleStopMs }),
    ...(maxAgeMs !== undefined && { maxAgeMs }),
    ...(ttlMs !== undefined && { ttlMs }),
  }
}
