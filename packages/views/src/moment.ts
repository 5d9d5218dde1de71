import type { JournalEvent, Moment } from '@vitrine/protocol'

export function momentOf(event: JournalEvent): Moment {
  return { seq: event.seq, time: event.time }
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

/** Milliseconds since 1970; `undefined` unless the text is an ISO time with a time zone. */
export function millisecondsOf(time: string): number | undefined {
  // `Date.parse` reads other forms differently in each engine and time zone.
  if (!isoTime.test(time)) return undefined
  const milliseconds = Date.parse(time)
  return Number.isNaN(milliseconds) ? undefined : milliseconds
}
