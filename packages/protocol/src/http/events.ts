import * as z from 'zod/mini'
import { strict } from '../options/strict.ts'
import { jsonObject } from '../options/values.ts'
import {
  eventPage,
  eventSummary,
  journalEvent,
  journalGap,
  recordedEvent,
  sinkState,
} from './responses/event.ts'
import { frames } from './responses/stream.ts'
import { table } from './route.ts'
import { count, words } from './values.ts'

const filter = {
  types: z.optional(words),
  session: z.optional(z.string()),
  run: z.optional(z.string()),
  text: z.optional(z.string()),
}

export const eventRoutes = table({
  readEvents: {
    method: 'GET',
    path: '/events',
    scope: 'sandbox',
    access: 'read',
    summary: 'A page of events; as a stream, history and then live; with `wait`, as soon as there is one.',
    query: () =>
      strict({
        ...filter,
        after: z.optional(z.string()),
        before: z.optional(z.string()),
        /** A `seq`, or a time. */
        at: z.optional(z.string()),
        order: z.optional(z.enum(['asc', 'desc'])),
        limit: z.optional(count),
        /** How many milliseconds a page may wait for its first event. */
        wait: z.optional(count),
        /** `all`: every journal of the host under one cursor. */
        scope: z.optional(z.enum(['all', 'host'])),
      }),
    response: eventPage,
    streams: true,
    frames: () => frames({ message: journalEvent(), gap: journalGap() }),
  },
  recordEvents: {
    method: 'POST',
    path: '/events',
    scope: 'sandbox',
    access: 'full',
    summary: 'Records events of a run: `run.*`, `loop.*` and `log.*`.',
    body: () => strict({ events: z.array(jsonObject) }),
    bodyInDocument: () => z.object({ events: z.array(recordedEvent()) }),
    status: 204,
    response: 'nothing',
  },
  summarizeEvents: {
    method: 'GET',
    path: '/events/summary',
    scope: 'sandbox',
    access: 'read',
    summary: 'How many events of each type, in slices of time.',
    query: () => strict({ ...filter, buckets: z.optional(count) }),
    response: eventSummary,
  },
  readBlob: {
    method: 'GET',
    path: '/blobs/{hash}',
    scope: 'host',
    access: 'read',
    summary: 'The bytes that an event refers to; byte ranges are answered.',
    response: 'bytes',
    ranges: true,
  },
  listSinks: {
    method: 'GET',
    path: '/sinks',
    scope: 'host',
    access: 'read',
    summary: 'Where events are delivered to, and how far behind each of them is.',
    response: () => z.object({ sinks: z.array(sinkState()) }),
  },
})
