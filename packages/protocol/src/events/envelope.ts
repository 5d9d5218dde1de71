import * as z from 'zod/mini'
import type { JsonObject } from '../json.ts'
import type { DesktopEventType, EventData, EventType } from './catalogue.ts'

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

/** An event of one type. `seq` defines the order; `time` is for display. */
export interface EventOfType<Type extends string, Data = JsonObject> extends EventContext {
  readonly journal: string
  readonly seq: number
  readonly time: string
  readonly type: Type
  readonly source: EventSource
  /** True if Vitrine derived the event instead of receiving it. */
  readonly derived?: true
  readonly data: Data
}

/** An event of a type of the catalogue. */
export type KnownEvent<T extends EventType = EventType> = { [K in T]: EventOfType<K, EventData<K>> }[T]

/** An event of the open family `desktop.*`. */
export type DesktopEvent<T extends DesktopEventType = DesktopEventType> = EventOfType<T>

/**
 * A type that this version does not know: any other string. It is an opaque enum, because TypeScript would keep an event
 * whose type is a plain string in the union when a program compares the type with a known one.
 */
export type UnknownEventType = OpaqueType

declare enum OpaqueType {
  unknown = '?',
}

/** An event of a type that is not in the catalogue, such as one of a newer version. */
export type UnknownEvent<T extends string = UnknownEventType> = EventOfType<T>

/**
 * One entry of a journal.
 *
 * @example
 * if (event.type === 'file.changed') console.log(event.data.path)
 */
export type JournalEvent = KnownEvent | DesktopEvent | UnknownEvent

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
