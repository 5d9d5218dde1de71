import type { EventInput, JournalItem } from './envelope.ts'

/** An event of another system, as that system emitted it. */
export interface ForeignEvent {
  readonly type: string
  readonly data: unknown
  readonly id?: string
}

/** An unwrapped foreign event with its `seq` and time in the journal. */
export interface RecordedForeignEvent extends ForeignEvent {
  readonly seq: number
  readonly time: string
}

/**
 * Wraps an event of another system. Accepts any shape, also types that Vitrine reserves.
 *
 * @example
 * await journal.append([foreignEvent({ type: 'message.delta', data: { text: 'hi' } })])
 */
export function foreignEvent(raw: unknown): EventInput {
  const { type, data, id } = readableFieldsOf(raw)
  return { type: 'foreign.event', data: { type, data: data ?? null, ...(id !== undefined && { id }) } }
}

/** The foreign event as it was emitted; `undefined` for an event of Vitrine. */
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

/** A value whose properties throw is wrapped as a whole; the journal stores the readable part. */
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
