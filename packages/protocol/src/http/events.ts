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
import { commaSeparated, count } from './values.ts'

const filter = () => ({
  types: z.optional(commaSeparated()),
  session: z.optional(z.string()),
  run: z.optional(z.string()),
  text: z.optional(z.string()),
})

export const eventRoutes = table({
  readEvents: {
    method: 'GET',
    path: '/events',
    scope: 'sandbox',
    access: 'read',
    summary:
      'Reads a page of events; with `wait`, waits for the first one; as an event stream, past events and then new ones.',
    query: () =>
      strict({
        ...filter(),
        after: z.optional(z.string()),
        before: z.optional(z.string()),
        /** A `seq` or a time to start at. */
        at: z.optional(z.string()),
        order: z.optional(z.enum(['asc', 'desc'])),
        limit: z.optional(count()),
        /** How many milliseconds to wait for the first event of a page. */
        wait: z.optional(count()),
        /** `all`: every journal of the host under one cursor. */
        scope: z.optional(z.enum(['all', 'host'])),
        /** With `scope=all`, only events of these journals. */
        journals: z.optional(commaSeparated()),
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
    summary: 'Appends events of the runtime: `run.*`, `loop.*`, `log.*` and `limit.reached`.',
    body: () => strict({ events: z.array(jsonObject), id: z.optional(z.string()) }),
    bodyInDocument: () => z.object({ events: z.array(recordedEvent()), id: z.optional(z.string()) }),
    status: 204,
    response: 'nothing',
  },
  summarizeEvents: {
    method: 'GET',
    path: '/events/summary',
    scope: 'sandbox',
    access: 'read',
    summary: 'Counts events by type and time slice.',
    query: () =>
      strict({
        ...filter(),
        buckets: z.optional(count()),
        /** `all`: every journal of the host. */
        scope: z.optional(z.enum(['all', 'host'])),
        /** With `scope=all`, only events of these journals. */
        journals: z.optional(commaSeparated()),
      }),
    response: eventSummary,
  },
  readBlob: {
    method: 'GET',
    path: '/blobs/{hash}',
    scope: 'sandbox',
    access: 'read',
    summary: 'Reads a blob that an event refers to, or a byte range of it.',
    response: 'bytes',
    ranges: true,
  },
  listSinks: {
    method: 'GET',
    path: '/sinks',
    scope: 'host',
    access: 'read',
    summary: 'Lists the sinks and how far behind each is.',
    response: () => z.object({ sinks: z.array(sinkState()) }),
  },
})
