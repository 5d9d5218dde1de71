import * as z from 'zod/mini'
import { eventSources } from '../events/envelope.ts'
import { lazily } from '../lazy.ts'
import { strict } from './strict.ts'
import {
  callable,
  duration,
  flag,
  having,
  isObject,
  milliseconds,
  optionally,
  signal,
  text,
  texts,
  textsByName,
  whole,
  withoutNul,
} from './values.ts'

const maxTypes = 100
const maxJournals = 100
/** The cost of a search is the size of the events times that of the text. */
const maxTextLength = 200
const maxItems = 10_000

export const types = () =>
  z
    .array(z.string(), "expected an array of types, such as ['file.*']")
    .check(z.maxLength(maxTypes, `expected an array of at most ${maxTypes} types`))

const filter = () => ({
  types: z.optional(types()),
  session: z.optional(z.string()),
  run: z.optional(z.string()),
  text: z.optional(
    z.string().check(z.maxLength(maxTextLength, `expected a string of at most ${maxTextLength} characters`)),
  ),
})

/** Journals of the store. */
const journals = () =>
  z.optional(
    z
      .array(z.string(), "expected an array of journal ids, such as ['sbx_a']")
      .check(z.maxLength(maxJournals, `expected an array of at most ${maxJournals} journal ids`)),
  )

/** Any value here: the store validates a cursor, with its own error code. */
const cursor = () => z.custom<string>(() => true)

const date = () =>
  z.custom<Date>((value) => value instanceof Date && !Number.isNaN(value.getTime()), 'expected a valid Date')

const payloadPolicy = () =>
  strict({
    output: z.optional(flag()),
    maxOutputBytes: z.optional(bound()),
    maxTextBytes: z.optional(bound()),
    argv: z.optional(flag()),
    paths: z.optional(flag()),
    env: z.optional(z.union([flag(), z.literal('names')])),
    errorText: z.optional(flag()),
  })

/** A size in bytes, or infinity. */
const bound = () =>
  z.custom<number>(
    (value) => typeof value === 'number' && value >= 0 && (Number.isInteger(value) || value === Infinity),
    'expected a whole number of at least 0, or Infinity',
  )

const above0 = () => {
  const message = 'expected a number above 0'
  return z.number(message).check(z.positive(message))
}

const retention = () =>
  strict({ events: z.optional(above0()), bytes: z.optional(above0()), ageMs: z.optional(above0()) })

const filePath = () => {
  const message = 'expected the path of a file'
  return z.string(message).check(z.minLength(1, message), withoutNul())
}

interface SecretStorageMethods {
  load(...given: never): unknown
  keep(...given: never): unknown
  addOwner(...given: never): unknown
  removeOwner(...given: never): unknown
  deriveKey(...given: never): unknown
}

const target = () => ({
  url: z.union([z.string(), z.custom<URL>((value) => value instanceof URL, 'expected a URL')]),
  headers: z.optional(textsByName()),
  timeoutMs: z.optional(milliseconds()),
  fetch: z.optional(callable<typeof globalThis.fetch>()),
})

const context = () => ({
  caller: z.optional(z.string()),
  actor: z.optional(z.string()),
  sandbox: z.optional(z.string()),
  session: z.optional(z.string()),
  run: z.optional(z.string()),
  turn: z.optional(z.string()),
  operation: z.optional(z.string()),
  trace: z.optional(
    strict({ traceId: z.string(), spanId: z.string(), parentSpanId: z.optional(z.string()) }),
  ),
})

const read = () => ({
  ...filter(),
  after: z.optional(cursor()),
  before: z.optional(cursor()),
  at: z.optional(z.union([whole(1), date()])),
  order: z.optional(z.enum(['asc', 'desc'])),
  limit: page(),
  signal: z.optional(signal()),
})

const page = () => z.optional(whole(1, maxItems))

const tail = () => ({ ...filter(), after: z.optional(cursor()), signal: z.optional(signal()) })

const summary = () => ({ ...filter(), buckets: page(), signal: z.optional(signal()) })

const tailExport = () => ({ after: z.optional(whole()), signal: z.optional(signal()) })

export const journalOptions = lazily({
  /** The writer's source and the context of its events. */
  writer: () =>
    strict({
      source: z.optional(z.enum(eventSources)),
      backend: z.optional(z.string()),
      traceparent: z.optional(z.string()),
      ...context(),
    }),
  append: () =>
    strict({ blobs: z.optional(z.array(z.custom<object>(isObject, 'expected a prepared blob'))) }),
  stream: () => strict({ retryWhileFailing: z.optional(flag()), channelOf: z.optional(callable()) }),
  operate: () =>
    strict({
      finish: z.optional(callable()),
      signal: z.optional(signal()),
      traceparent: z.optional(z.string()),
    }),
  read: () => strict(read()),
  readAll: () => strict({ ...read(), journals: journals() }),
  tail: () => strict(tail()),
  tailAll: () => strict({ ...tail(), journals: journals() }),
  tailEncoded: () => strict({ ...tail(), page: page() }),
  tailAllEncoded: () => strict({ ...tail(), journals: journals(), page: page() }),
  summary: () => strict(summary()),
  summaryAll: () => strict({ ...summary(), journals: journals() }),
  tap: () =>
    strict({
      name: z.optional(text()),
      types: z.optional(types()),
      ordered: z.optional(flag()),
      queue: z.optional(whole(1)),
    }),
  gate: () => strict({ ops: z.optional(texts()), timeoutMs: z.optional(duration()) }),
  flush: () => strict({ timeoutMs: z.optional(milliseconds()), signal: z.optional(signal()) }),
  verify: () =>
    strict({
      head: z.optional(strict({ seq: whole(), hash: z.string() })),
      signal: z.optional(signal()),
    }),
  record: () => strict({ id: z.optional(text()) }),
  export: () => strict({ ...tailExport(), limit: page() }),
  tailExport: () => strict(tailExport()),
  tailExportEncoded: () => strict({ ...tailExport(), page: page() }),
  import: () =>
    strict({
      from: z.optional(having<{ blob(...given: never): unknown }>('a reader of the origin', 'blob')),
      signal: z.optional(signal()),
    }),
  retention,
})

export const storeOptions = lazily({
  open: () =>
    strict({
      takeover: z.optional(flag()),
      readOnly: z.optional(flag()),
      killOrphans: z.optional(callable()),
      retention: optionally(retention),
      blobs: optionally(() => strict({ maxBytes: z.optional(whole()), maxTotalBytes: z.optional(whole()) })),
      policy: optionally(payloadPolicy),
      policyByOp: optionally(() => z.record(z.string(), payloadPolicy())),
      patterns: z.optional(flag()),
      secrets: z.optional(
        having<SecretStorageMethods>(
          'a storage of secrets, such as `secretsFile({ path, key })`',
          'load',
          'keep',
          'addOwner',
          'removeOwner',
          'deriveKey',
        ),
      ),
      maxPendingBytes: z.optional(whole()),
      maxPendingEndings: z.optional(whole()),
      closeMs: z.optional(whole(1, 60_000)),
      recent: optionally(() => strict({ maxEntries: z.optional(whole()), maxBytes: z.optional(whole()) })),
      onObserverError: z.optional(callable()),
    }),
  addSecret: () => strict({ sandbox: z.optional(z.string()), kept: z.optional(flag()) }),
  addSecrets: () => strict({ sandbox: z.optional(z.string()) }),
  secretsFile: () => strict({ path: filePath(), key: filePath(), forgetUnreadable: z.optional(flag()) }),
  sqlite: () =>
    strict({
      path: filePath(),
      synchronous: z.optional(z.enum(['normal', 'full'])),
      releaseMs: z.optional(whole(0, 60_000)),
    }),
})

export const blobOptions = lazily({
  /** The reader checks the numbers: `to` depends on `from`. */
  bytes: () =>
    strict({
      from: z.optional(z.custom<number>(() => true)),
      to: z.optional(z.custom<number>(() => true)),
    }),
  put: () => strict({ mediaType: z.optional(z.string()) }),
  /** The store checks the range, with its own error code. */
  range: () =>
    strict({
      start: z.optional(z.custom<number>(() => true)),
      end: z.optional(z.custom<number>(() => true)),
    }),
  sweep: () => strict({ graceMs: z.optional(whole()) }),
})

const sinkFields = () => ({
  types: z.optional(types()),
  policy: z.optional(payloadPolicy()),
  from: z.optional(z.enum(['start', 'now'])),
})

/** The options of a host for its journals. */
export const journalingFields = () => ({
  retention: optionally(retention),
  payload: optionally(payloadPolicy),
  payloadByOp: optionally(() => z.record(z.string(), payloadPolicy())),
  sinks: optionally(() =>
    z.array(
      strict({
        name: z.string(),
        sink: having<{ write(...given: never): unknown }>('a sink, such as `jsonlSink({ path })`', 'write'),
        ...sinkFields(),
      }),
    ),
  ),
})

export const sinkOptions = lazily({
  add: () => strict(sinkFields()),
  jsonl: () =>
    strict({
      path: filePath(),
      maxBytes: z.optional(whole(1)),
      keep: z.optional(whole()),
      fsync: z.optional(flag()),
    }),
  http: () => strict({ ...target(), batchEvents: z.optional(whole(1)), maxBodyBytes: z.optional(whole(1)) }),
  otlp: () =>
    strict({
      ...target(),
      resource: z.optional(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))),
      onPartial: z.optional(callable()),
    }),
  workspaceJsonl: () =>
    strict({
      writer: z.optional(having<{ append(...given: never): unknown }>('a writer', 'append')),
      path: z.optional(z.string()),
    }),
})
