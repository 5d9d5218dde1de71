import type { EncodedEvent, EncodedPage, Store, Tail, TailEncodedOptions } from '@vitrine/journal'
import { type EventInput, type ReadOptions, VitrineError } from '@vitrine/protocol'
import type { eventRoutes } from '@vitrine/protocol/http'
import type { Daemon } from '../daemon.ts'
import type { HttpResponse } from '../http/http-response.ts'
import { bytesAnswer, readRange } from '../responses/bytes.ts'
import { encodedJson, type JsonAnswer } from '../responses/json.ts'
import type { CallOf, HandlersOf, JsonOf } from '../routing/call.ts'
import { omitUndefined } from '../routing/omit-undefined.ts'
import { journalSource } from '../streams/sources.ts'
import { eventStream } from '../streams/stream.ts'

/**
 * Held for each reader: what a reader that stops reading costs. With 64, a hundred of them slow a live reader by a fifth
 * until their sockets are full; with 256, by a twentieth.
 */
const streamPage = 256
const maxWaitMs = 60_000

type ReadEvents = (typeof eventRoutes)['readEvents']
type Reading = CallOf<ReadEvents>

/** One journal, or the whole store. */
interface Readable {
  readEncoded(options?: ReadOptions): Promise<EncodedPage>
  tailEncoded(options?: TailEncodedOptions): Tail<EncodedEvent>
}

export function eventHandlers(daemon: Daemon): HandlersOf<typeof eventRoutes> {
  const { store } = daemon.host
  return {
    async readEvents(call) {
      const journal = await subjectOf(call, store)
      if (call.wantsStream) return await stream(daemon, journal, call)
      return pageAnswer(await readPage(journal, call))
    },
    async recordEvents({ body, ...call }) {
      const sandbox = await call.sandbox()
      const untyped = body.events.findIndex(({ type }) => typeof type !== 'string')
      if (untyped !== -1) throw new VitrineError('event_invalid', `events[${untyped}].type: expected a text.`)
      // The journal checks every event; its message says which field is wrong.
      await sandbox.record(body.events as unknown as EventInput[])
    },
    async summarizeEvents({ query, signal, ...call }) {
      return (await call.journal()).summary({ ...omitUndefined(query), signal: signal() })
    },
    async readBlob({ params, request }) {
      const { hash } = params
      const whole = await store.getBlob(hash)
      const range = readRange(request.header('range'), whole.bytes)
      if (range !== undefined) await whole.stream.cancel()
      const { stream } = range === undefined ? whole : await store.getBlob(hash, range)
      return bytesAnswer(stream, whole.bytes, range, {
        etag: `"${hash}"`,
        // What an agent wrote is shown as what it is called, never run.
        'content-security-policy': 'sandbox',
        'content-disposition': 'attachment',
      })
    },
    async listSinks() {
      return {
        sinks: store.sinks.map(({ error, ...sink }) => ({ ...sink, ...(error && { error: error.message }) })),
      }
    },
  }
}

async function subjectOf(call: Reading, store: Store): Promise<Readable> {
  if (call.query.scope === 'all') return store
  if (call.query.scope === 'host') return store.journal('host')
  return call.journal()
}

async function stream(daemon: Daemon, journal: Readable, call: Reading): Promise<HttpResponse> {
  const { types, session, run, text } = call.query
  const after = call.request.header('last-event-id') ?? call.query.after
  const filter = omitUndefined({ types, session, run, text, after })
  const deliveries = journal.tailEncoded({ ...filter, page: streamPage, signal: call.signal() })
  await deliveries.begin()
  const source = journalSource(deliveries, daemon.closing, daemon.metrics.streaming())
  return eventStream(source, daemon.streams)
}

/** What is stored is what is sent. */
function pageAnswer({ events, cursor, end }: EncodedPage): JsonAnswer<JsonOf<ReadEvents>> {
  const place = JSON.stringify({ cursor, end }).slice(1)
  return encodedJson(200, `{"events":[${events.join()}],${place}`)
}

async function readPage(journal: Readable, { query, signal }: Reading): Promise<EncodedPage> {
  const { wait = 0, scope: _scope, at, ...rest } = query
  const options: ReadOptions = {
    ...omitUndefined(rest),
    ...(at !== undefined && { at: placeOf(at) }),
    signal: signal(),
  }
  const page = await journal.readEncoded(options)
  if (wait === 0 || page.events.length > 0 || query.order === 'desc') return page
  return waitForMore(journal, options, page, Math.min(wait, maxWaitMs), signal())
}

/** Once there is one event, what there is then; nothing new after a while. */
async function waitForMore(
  journal: Readable,
  options: ReadOptions,
  page: EncodedPage,
  waitMs: number,
  signal: AbortSignal,
): Promise<EncodedPage> {
  const late = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
  const { types, session, run, text } = options
  const filter = omitUndefined({ types, session, run, text })
  const waiting = journal.tailEncoded({ ...filter, page: 1, after: page.cursor, signal: late })
  await waiting.next()
  const cursor = waiting.cursor ?? page.cursor
  await waiting.return()
  if (late.aborted) return { events: [], cursor, end: true }
  return journal.readEncoded({ ...options, after: page.cursor })
}

function placeOf(at: string): number | Date {
  if (/^\d{1,15}$/.test(at)) return Number(at)
  // Only what is written as a time: `Date` also makes one of "-5" and "May".
  const time = new Date(/^\d{4}-\d\d-\d\d/.test(at) ? at : Number.NaN)
  if (!Number.isNaN(time.getTime())) return time
  throw new VitrineError('argument_invalid', `at: expected a seq or a time, got ${JSON.stringify(at)}.`)
}
