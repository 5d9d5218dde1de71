import * as z from 'zod/mini'
import { strict } from '../options/strict.ts'
import { table } from './route.ts'
import { count, jsonObject, words } from './values.ts'

const filter = {
  types: z.optional(words),
  session: z.optional(z.string()),
  run: z.optional(z.string()),
  text: z.optional(z.string()),
}

export const page = z.object({ events: z.array(jsonObject), cursor: z.string(), end: z.boolean() })

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
        order: z.optional(z.enum(['forwards', 'backwards'])),
        limit: z.optional(count),
        /** How many milliseconds a page may wait for its first event. */
        wait: z.optional(count),
        /** `all`: every journal of the host under one cursor. */
        scope: z.optional(z.enum(['all', 'host'])),
      }),
    answer: () => page,
    streams: true,
  },
  recordEvents: {
    method: 'POST',
    path: '/events',
    scope: 'sandbox',
    access: 'full',
    summary: 'Records events of a run: `run.*`, `loop.*` and `log.*`.',
    body: () => strict({ events: z.array(jsonObject) }),
    status: 204,
    answer: 'nothing',
  },
  summarizeEvents: {
    method: 'GET',
    path: '/events/summary',
    scope: 'sandbox',
    access: 'read',
    summary: 'How many events of each type, in slices of time.',
    query: () => strict({ ...filter, buckets: z.optional(count) }),
    answer: () =>
      z.object({
        buckets: z.array(
          z.object({
            from: z.string(),
            to: z.string(),
            seqs: z.optional(z.tuple([z.number(), z.number()])),
            counts: z.record(z.string(), z.number()),
          }),
        ),
        total: z.number(),
        counts: z.record(z.string(), z.number()),
      }),
  },
  readBlob: {
    method: 'GET',
    path: '/blobs/{hash}',
    scope: 'host',
    access: 'read',
    summary: 'The bytes that an event refers to; byte ranges are answered.',
    answer: 'bytes',
  },
  listSinks: {
    method: 'GET',
    path: '/sinks',
    scope: 'host',
    access: 'read',
    summary: 'Where events are delivered to, and how far behind each of them is.',
    answer: () => z.object({ sinks: z.array(jsonObject) }),
  },
})
