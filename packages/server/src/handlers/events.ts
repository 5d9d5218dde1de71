import type { EncodedEvent, EncodedPage, Store, Tail, TailEncodedOptions } from '@vitrine/journal'
import {
  type EventInput,
  type JournalFilter,
  type ReadOptions,
  type Summary,
  type SummaryOptions,
  VitrineError,
} from '@vitrine/protocol'
import type { eventRoutes } from '@vitrine/protocol/http'
import { shown } from '@vitrine/protocol/primitives'
import type { Daemon } from '../daemon/daemon.ts'
import type { HttpResponse } from '../http/http-response.ts'
import { bytesResponse, readRange } from '../responses/bytes.ts'
import { encodedJsonResponse, type JsonResponse, jsonResponse } from '../responses/json.ts'
import type { CallOf, HandlersOf, JsonOf } from '../routing/call.ts'
import { omitUndefined } from '../routing/omit-undefined.ts'
import { journalSource } from '../streams/sources.ts'
import { eventStream } from '../streams/stream.ts'

/**
 * Events per page of a stream, which is also the memory that a stalled reader costs. With 64, a hundred stalled readers
 * slow a live one by a fifth until their sockets are full; with 256, by a twentieth.
 */
const streamPage = 256
const maxWaitMs = 60_000

type ReadEvents = (typeof eventRoutes)['readEvents']
type ReadEventsCall = CallOf<ReadEvents>

/** One journal, or the whole store. */
interface Readable {
  readEncoded(options?: ReadOptions & JournalFilter): Promise<EncodedPage>
  tailEncoded(options?: TailEncodedOptions & JournalFilter): Tail<EncodedEvent>
  summary(options?: SummaryOptions & JournalFilter): Promise<Summary>
}

type ScopeQuery = Pick<ReadEventsCall['query'], 'scope' | 'journals'>

export function eventHandlers(daemon: Daemon): HandlersOf<typeof eventRoutes> {
  const { store } = daemon.host
  return {
    async readEvents(call) {
      const journal = await readableOf(call, store)
      if (call.wantsStream) return await stream(daemon, journal, call)
      return readPage(daemon, journal, call)
    },
    async recordEvents({ body, ...call }) {
      const sandbox = await call.sandbox()
      const untyped = body.events.findIndex(({ type }) => typeof type !== 'string')
      if (untyped !== -1)
        throw new VitrineError('event_invalid', `events[${untyped}].type: expected a string.`)
      // The journal checks every event; its message says which field is wrong.
      await sandbox.record(
        body.events as unknown as EventInput[],
        body.id === undefined ? {} : { id: body.id },
      )
    },
    async summarizeEvents(call) {
      const { signal, caller } = call
      const journal = await readableOf(call, store)
      const { scope: _scope, ...query } = call.query
      const options = { ...omitUndefined(query), signal: signal() }
      return daemon.longReads.run(caller.name, signal(), async () =>
        jsonResponse(200, await journal.summary(options)),
      )
    },
    async readBlob({ params, request, ...call }) {
      const { hash } = params
      if (params.sandbox !== undefined) await call.journal()
      const whole = await store.getBlob(hash)
      const range = readRange(request.header('range'), whole.bytes)
      if (range !== undefined) await whole.stream.cancel()
      const { stream } = range === undefined ? whole : await store.getBlob(hash, range)
      return bytesResponse(stream, whole.bytes, range, {
        etag: `"${hash}"`,
        // A blob may be HTML that an agent wrote: the browser must download it, never run it.
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

async function readableOf(
  { query, journal }: Pick<ReadEventsCall, 'journal'> & { readonly query: ScopeQuery },
  store: Store,
): Promise<Readable> {
  const { scope, journals } = query
  if (scope === 'all') return store
  if (journals !== undefined)
    throw new VitrineError('argument_invalid', 'query.journals: expected scope=all with it.')
  return scope === 'host' ? store.journal('host') : journal()
}

async function stream(daemon: Daemon, journal: Readable, call: ReadEventsCall): Promise<HttpResponse> {
  const { types, session, run, text, journals } = call.query
  const after = call.request.header('last-event-id') ?? call.query.after
  const filter = omitUndefined({ types, session, run, text, journals, after })
  const tail = journal.tailEncoded({ ...filter, page: streamPage, signal: call.signal() })
  await tail.begin()
  const source = journalSource(tail, daemon.closing, daemon.metrics.streaming())
  return eventStream(source, daemon.streams)
}

/** Sends the events as they are stored, without parsing them. */
function pageResponse({ events, cursor, end }: EncodedPage): JsonResponse<JsonOf<ReadEvents>> {
  const position = JSON.stringify({ cursor, end }).slice(1)
  return encodedJsonResponse(200, `{"events":[${events.join()}],${position}`)
}

async function readPage(
  { longReads }: Daemon,
  journal: Readable,
  { query, signal, caller }: ReadEventsCall,
): Promise<JsonResponse<JsonOf<ReadEvents>>> {
  const { wait = 0, scope: _scope, at, ...rest } = query
  const options: ReadOptions & JournalFilter = {
    ...omitUndefined(rest),
    ...(at !== undefined && { at: seqOrTime(at) }),
    signal: signal(),
  }
  const read = async (from: ReadOptions & JournalFilter) => {
    let page: EncodedPage = { events: [], cursor: '', end: true }
    const response = await longReads.run(caller.name, signal(), async () => {
      page = await journal.readEncoded(from)
      return pageResponse(page)
    })
    return { page, response }
  }
  const { page, response } = await read(options)
  // No new event belongs to a page that is read backwards or has an end.
  const isComplete = query.order === 'desc' || query.before !== undefined
  if (wait === 0 || page.events.length > 0 || isComplete) return response
  // The wait has no slot: until there is an event it costs no more than an open stream.
  const { cursor, isExpired } = await waitForNext(journal, options, page, Math.min(wait, maxWaitMs))
  if (isExpired) return pageResponse({ events: [], cursor, end: true })
  return (await read({ ...options, after: page.cursor })).response
}

/** Waits for the first new event after a page, at most `waitMs`. */
async function waitForNext(
  journal: Readable,
  { types, session, run, text, journals, signal }: ReadOptions & JournalFilter,
  page: EncodedPage,
  waitMs: number,
): Promise<{ readonly cursor: string; readonly isExpired: boolean }> {
  const timeout = AbortSignal.timeout(waitMs)
  const expired = signal === undefined ? timeout : AbortSignal.any([signal, timeout])
  const filter = omitUndefined({ types, session, run, text, journals })
  const tail = journal.tailEncoded({ ...filter, page: 1, after: page.cursor, signal: expired })
  await tail.next()
  const cursor = tail.cursor ?? page.cursor
  await tail.return()
  return { cursor, isExpired: expired.aborted }
}

function seqOrTime(at: string): number | Date {
  if (/^\d{1,15}$/.test(at)) return Number(at)
  // `Date` also accepts "-5" and "May", so the text must begin with a date.
  const time = new Date(/^\d{4}-\d\d-\d\d/.test(at) ? at : Number.NaN)
  if (!Number.isNaN(time.getTime())) return time
  throw new VitrineError('argument_invalid', `at: expected a seq or a time, got ${shown(at)}.`)
}
