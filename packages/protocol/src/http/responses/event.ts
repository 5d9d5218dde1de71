import * as z from 'zod/mini'
import { component } from '../../component.ts'
import { type EventType, eventCatalogue } from '../../events/catalogue.ts'
import { eventSources, type KnownEvent } from '../../events/envelope.ts'

const text = z.string().check(z.minLength(1))

const context = () => ({
  actor: z.exactOptional(text),
  sandbox: z.exactOptional(text),
  session: z.exactOptional(text),
  run: z.exactOptional(text),
  turn: z.exactOptional(text),
  operation: z.exactOptional(text),
  trace: z.exactOptional(z.object({ traceId: text, spanId: text, parentSpanId: z.exactOptional(text) })),
})

const envelope = () => ({
  journal: text,
  seq: z.int().check(z.gte(1)),
  time: text,
  source: z.enum(eventSources),
  /** The name of the token that the call was authenticated with. */
  caller: z.exactOptional(text),
  ...context(),
  derived: z.exactOptional(z.literal(true)),
})

/** `file.created` becomes `FileCreatedEvent`. */
function nameOf(type: string): string {
  const words = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('').replace(/Event$/, '')}Event`
}

function eventOf(type: EventType): z.ZodMiniObject {
  return component(nameOf(type), () =>
    z.object({ ...envelope(), type: z.literal(type), data: eventCatalogue[type] }),
  )()
}

/** An event that a runtime appends: `run.*`, `loop.*`, `log.*` or `limit.reached`; the journal adds the rest of the envelope. */
export const recordedEvent = component('RecordedEvent', () => {
  const types = (Object.keys(eventCatalogue) as EventType[]).filter((type) => /^(run|loop|log)\./.test(type))
  const [first, ...rest] = types.map((type) =>
    component(nameOf(`recorded.${type}`), () =>
      z.object({ type: z.literal(type), data: z.exactOptional(eventCatalogue[type]), ...context() }),
    )(),
  )
  return z.discriminatedUnion('type', [first!, ...rest])
})

export const journalGap = component('JournalGap', () =>
  z.object({
    journal: text,
    type: z.literal('journal.gap'),
    data: z.object({
      from: z.int(),
      to: z.int(),
      reason: z.string(),
      types: z.array(z.string()),
      cursor: z.string(),
    }),
  }),
)

// A cast, since TypeScript infers no union through `map`; both are derived from the event catalogue.
export const journalEvent = component('JournalEvent', () => {
  const [first, ...rest] = (Object.keys(eventCatalogue) as EventType[]).map(eventOf)
  return z.discriminatedUnion('type', [first!, ...rest]) as unknown as z.ZodMiniType<KnownEvent>
})

/** An event, or a notice about missing events. */
export const journalItem = component('JournalItem', () => z.union([journalEvent(), journalGap()]))

export const eventPage = component('EventPage', () =>
  z.object({ events: z.array(journalItem()), cursor: z.string(), end: z.boolean() }),
)

const counts = z.record(z.string(), z.int())

export const eventSummary = component('EventSummary', () =>
  z.object({
    buckets: z.array(
      z.object({
        from: z.string(),
        to: z.string(),
        seqs: z.exactOptional(z.tuple([z.int(), z.int()])),
        counts,
      }),
    ),
    total: z.int(),
    counts,
  }),
)

/** A sink and how far behind it is. */
export const sinkState = component('SinkState', () =>
  z.object({
    name: z.string(),
    kind: z.string(),
    status: z.enum(['ok', 'failing', 'closed']),
    /** Commits that are not delivered yet. */
    lag: z.int(),
    error: z.exactOptional(z.string()),
  }),
)
