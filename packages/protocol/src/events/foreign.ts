import type { EventInput, JournalItem } from './envelope.ts'

/** An event of another vocabulary, as its source gave it. */
export interface ForeignEvent {
  readonly type: string
  readonly data: unknown
  readonly id?: string
}

/** An unwrapped foreign event with its place in the journal beside it. */
export interface RecordedForeignEvent extends ForeignEvent {
  readonly seq: number
  readonly time: string
}

/**
 * Wraps what another vocabulary emitted. Never refuses a shape: our own reserved names included.
 *
 * @example
 * await journal.append([foreignEvent({ type: 'message.delta', data: { text: 'hi' } })])
 */
export function foreignEvent(raw: unknown): EventInput {
  const { type, data, id } = readableFieldsOf(raw)
  return { type: 'foreign.event', data: { type, data: data ?? null, ...(id !== undefined && { id }) } }
}

/** The foreign event as it was emitted, or nothing for an event of ours. */
export function unwrapForeignEvent(item: JournalItem): RecordedForeignEvent | undefined {
  if (item.type !== 'foreign.event' || !('seq' in item)) return undefined
  const { type, data, id } = item.data
  return {
    type: String(type),
    data,
    ...(typeof id === 'string' && { id }),
    seq: item.seq,
    time: item.time,
  }
}

/** What cannot even be looked at is kept whole: the journal writes down what it can of it. */
function readableFieldsOf(raw: unknown): { type: string; data: unknown; id?: string } {
  try {
    return fieldsOf(raw)
  } catch {
    return { type: 'unknown', data: raw }
  }
}

function fieldsOf(raw: unknown): { type: string; data: unknown; id?: string } {
  if (typeof raw !== 'object' || raw === null || !('type' in raw) || typeof raw.type !== 'string') {
    return { type: 'unknown', data: raw }
  }
  const { type, data, id, ...rest } = raw as { type: string; data?: unknown; id?: unknown }
  const extra = Object.keys(rest).length > 0
  if (extra || (id !== undefined && typeof id !== 'string')) return { type, data: raw }
  return { type, data, ...(id !== undefined && { id }) }
}
