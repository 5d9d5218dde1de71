import * as z from 'zod/mini'
import type { JsonObject } from '../json.ts'
import type { EventData, EventType } from './catalogue.ts'

export const eventSources = ['agent', 'engine', 'host', 'runtime', 'user', 'foreign'] as const

/** The part of Vitrine that wrote an event. Set by the writer, never by its caller. */
export type EventSource = (typeof eventSources)[number]

/** Links an event to a span. Without tracing, the ids are still unique and nested. */
export interface TraceIds {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
}

/** The caller, actor, sandbox, session and work that an event belongs to. */
export interface EventContext {
  /** The name of the token that the call was authenticated with. Only a server sets it. */
  readonly caller?: string
  /** The person or program that asked, as the caller claims. */
  readonly actor?: string
  readonly sandbox?: string
  readonly session?: string
  readonly run?: string
  readonly turn?: string
  readonly operation?: string
  readonly trace?: TraceIds
}

/** When an event happened: `seq` defines the order, `time` is for display. */
export interface Moment {
  readonly seq: number
  readonly time: string
}

/** One entry of a journal. `seq` defines the order; `time` is for display. */
export interface JournalEvent<Data = JsonObject> extends EventContext {
  readonly journal: string
  readonly seq: number
  readonly time: string
  readonly type: string
  readonly source: EventSource
  /** True if Vitrine derived the event instead of receiving it. */
  readonly derived?: true
  readonly data: Data
}

/** An event of a type that this version knows. Narrow with `isEvent(event, 'file.created')`. */
export type KnownEvent<T extends EventType = EventType> = {
  [K in T]: JournalEvent<EventData<K>> & { readonly type: K }
}[T]

export function isEvent<T extends EventType>(
  event: { readonly type: string },
  type: T,
): event is KnownEvent<T> {
  return event.type === type
}

/** A notice for one reader about events that are no longer available. It has no `seq` and is never stored. */
export interface JournalGap {
  readonly journal: string
  readonly type: 'journal.gap'
  readonly data: {
    readonly from: number
    readonly to: number
    readonly reason: string
    /** The exact types of the missing events; never empty. */
    readonly types: readonly string[]
    /** The cursor after the gap. */
    readonly cursor: string
  }
}

/** An item that a reader gets: an event, or a notice about missing events. */
export type JournalItem = JournalEvent | JournalGap

export function isGap(item: JournalItem): item is JournalGap {
  return item.type === 'journal.gap' && !('seq' in item)
}

/** An event as passed to `append`; the journal adds the other fields. */
export type EventInput = EventContext & {
  readonly type: string
  readonly data?: { readonly [key: string]: unknown }
  readonly derived?: true
}

const text = z.string().check(z.minLength(1))

/** The envelope on the wire. The writer has already checked `data`. */
export const eventEnvelope = z.looseObject({
  journal: text,
  seq: z.int().check(z.gte(1)),
  time: text,
  type: text,
  source: z.string(),
  caller: z.optional(text),
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
