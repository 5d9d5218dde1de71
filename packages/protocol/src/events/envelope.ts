import * as z from 'zod/mini'
import type { JsonObject } from '../json.ts'
import type { EventData, EventType } from './catalogue.ts'

export const eventSources = ['agent', 'engine', 'host', 'runtime', 'user', 'foreign'] as const

/** Which part of Vitrine wrote an event. Set by the writer, never by its caller. */
export type EventSource = (typeof eventSources)[number]

/** Joins an event to a span. Without tracing the ids are still unique and still nest. */
export interface TraceIds {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
}

/** Whom and what an event belongs to. */
export interface EventContext {
  readonly actor?: string
  readonly sandbox?: string
  readonly session?: string
  readonly run?: string
  readonly turn?: string
  readonly operation?: string
  readonly trace?: TraceIds
}

/** One entry of a journal. `seq` is its order; `time` is for people. */
export interface JournalEvent<Data = JsonObject> extends EventContext {
  readonly journal: string
  readonly seq: number
  readonly time: string
  readonly type: string
  readonly source: EventSource
  /** True when Vitrine concluded it rather than received it. */
  readonly derived?: true
  readonly data: Data
}

/** An event of a type this version knows. Narrow with `isEvent(event, 'file.created')`. */
export type KnownEvent<T extends EventType = EventType> = {
  [K in T]: JournalEvent<EventData<K>> & { readonly type: K }
}[T]

export function isEvent<T extends EventType>(
  event: { readonly type: string },
  type: T,
): event is KnownEvent<T> {
  return event.type === type
}

/** Tells one reader what it cannot have. It has no `seq` and is never stored. */
export interface JournalGap {
  readonly journal: string
  readonly type: 'journal.gap'
  readonly data: {
    readonly from: number
    readonly to: number
    readonly reason: string
    /** The exact types of what is missing; never empty. */
    readonly types: readonly string[]
    /** Where reading goes on. */
    readonly cursor: string
  }
}

/** What a reader is given: events, and between them the notices of what is missing. */
export type JournalItem = JournalEvent | JournalGap

export function isGap(item: JournalItem): item is JournalGap {
  return item.type === 'journal.gap' && !('seq' in item)
}

/** What a writer hands to `append`; the journal adds the rest. */
export type EventInput = EventContext & {
  readonly type: string
  readonly data?: { readonly [key: string]: unknown }
  readonly derived?: true
}

const text = z.string().check(z.minLength(1))

/** The envelope on the wire. What is in `data` was checked by whoever wrote it. */
export const eventEnvelope = z.looseObject({
  journal: text,
  seq: z.int().check(z.gte(1)),
  time: text,
  type: text,
  source: z.string(),
  actor: z.optional(text),
  sandbox: z.optional(text),
  session: z.optional(text),
  run: z.optional(text),
  turn: z.optional(text),
  operation: z.optional(text),
  trace: z.optional(z.looseObject({ traceId: text, spanId: text, parentSpanId: z.optional(text) })),
  derived: z.optional(z.literal(true)),
  data: z.record(z.string(), z.json()),
})
