import { isGap, type JournalItem, type JsonObject } from '@vitrine/protocol'

/**
 * An event as observers of a run get it. An event of another vocabulary has the type, the data and the id that its agent
 * gave it; every other one those of the journal.
 */
export interface SandboxEvent {
  readonly type: string
  readonly data: JsonObject
  readonly id?: string
  /** Its place in the journal; absent for a notice of events that were trimmed. */
  readonly seq?: number
  readonly time?: string
}

export type TurnKind = 'start' | 'resume'

/** The place of an event in its run. */
export interface SandboxEventMeta {
  /** From 0. */
  readonly turnIndex: number
  readonly turnKind: TurnKind
  readonly agentRunName: string
  readonly runId: string
  readonly sandboxId: string
  readonly sessionId: string
  readonly seq?: number
  readonly time?: string
}

/** The event of a journal item. They share their data. */
export function sandboxEvent(item: JournalItem): SandboxEvent {
  // The data of an event is a JSON object; its type narrows the fields.
  const data = item.data as JsonObject
  if (isGap(item)) return { type: item.type, data }
  const { type, seq, time } = item
  if (type !== 'foreign.event') return { type, data, seq, time }
  const { type: own, id, data: inner } = data
  return {
    type: typeof own === 'string' ? own : type,
    data: isObject(inner) ? inner : { value: inner ?? null },
    ...(typeof id === 'string' && { id }),
    seq,
    time,
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
