import {
  type EventContext,
  type JournalEvent,
  type JournalGap,
  type JsonObject,
  parseEvent,
} from '@vitrine/protocol'

/** An event as a reader gets it, one second after the previous one. */
export function event(
  seq: number,
  type: string,
  data: JsonObject = {},
  context: EventContext = {},
): JournalEvent {
  const time = new Date(Date.UTC(2026, 0, 2, 10, 15, seq)).toISOString()
  return parseEvent({ journal: 'sbx_1', seq, time, type, source: 'engine', ...context, data })
}

export function gap(from: number, to: number, types: readonly string[] = [], reason = 'trimmed'): JournalGap {
  return { journal: 'sbx_1', type: 'journal.gap', data: { from, to, reason, types, cursor: `c${to}` } }
}
