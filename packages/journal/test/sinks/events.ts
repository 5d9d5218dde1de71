import {
  type EventOfType,
  type JournalEvent,
  type JournalGap,
  type JournalItem,
  parseEvent,
} from '@vitrine/protocol'
import type { SinkBatch } from '../../src/sinks/sink.ts'

/** A signal that never aborts, as a sink is given while it is added. */
export const going = { signal: new AbortController().signal }

export function event(seq: number, fields: Partial<EventOfType<string>> = {}): JournalEvent {
  return parseEvent({
    journal: 'sbx_a',
    seq,
    time: '2026-01-02T03:04:05.678Z',
    type: 'log.message',
    source: 'engine',
    data: { level: 'info', message: `event ${seq}` },
    ...fields,
  })
}

export function gap(journal: string): JournalGap {
  return {
    journal,
    type: 'journal.gap',
    data: { from: 1, to: 2, reason: 'trimmed', types: ['process.output'], cursor: 'c' },
  }
}

/** An event whose line is exactly this long. */
export function eventOfBytes(seq: number, bytes: number): JournalEvent {
  const bare = event(seq, { data: { level: 'info', message: '' } })
  const missing = bytes - JSON.stringify(bare).length - 1
  return event(seq, { data: { level: 'info', message: 'x'.repeat(missing) } })
}

export function batch(events: readonly JournalItem[], key = 'key-1'): SinkBatch {
  return { events, key }
}

export function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
