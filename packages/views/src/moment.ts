import type { JournalEvent } from '@vitrine/protocol'

/** When something happened: `seq` is its order, `time` is for people. */
export interface Moment {
  readonly seq: number
  readonly time: string
}

export function momentOf(event: JournalEvent): Moment {
  return { seq: event.seq, time: event.time }
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

/** Milliseconds since 1970, or nothing for what is not an ISO time with its zone. */
export function millisecondsOf(time: string): number | undefined {
  // Other forms are read differently by each engine and time zone.
  if (!isoTime.test(time)) return undefined
  const milliseconds = Date.parse(time)
  return Number.isNaN(milliseconds) ? undefined : milliseconds
}
