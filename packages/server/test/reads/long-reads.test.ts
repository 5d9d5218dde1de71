import { type JournalItem, readPages } from '@vitrine/protocol'
import { rebuild, transcriptView } from '@vitrine/views'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, openDaemon, type TestDaemon } from '../daemon.ts'

const session = 'ses_long'
const chunks = 10_000
const readers = 20

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
  const journal = await daemon.host.store.journal(daemon.sandbox)
  for (let first = 0; first < chunks; first += 1_000)
    await journal.append(Array.from({ length: 1_000 }, (_, index) => chunk(first + index)))
}, 60_000)
afterAll(() => daemon.close())

function chunk(index: number) {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `word ${index} ` } }
  const message = { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update } }
  const data = { agent: 'demo', instance: 'inst_1', direction: 'out', message }
  return { type: 'agent.message', session, data } as const
}

/** Starts requests of a read token, and counts those that have a whole response. */
function begin(path: string) {
  const headers = bearer(daemon.readToken)
  const state = { ended: 0 }
  const all = Promise.all(
    Array.from({ length: readers }, async () => {
      const response = await daemon.fetch(path, { headers })
      const text = await response.text()
      state.ended += 1
      return { status: response.status, text }
    }),
  )
  return { state, all }
}

/** The turns of the event loop until the response to a request is there. */
async function turnsDuring(path: string): Promise<number> {
  const request = new Request(`${daemon.url}${path}`, { headers: bearer(daemon.readToken) })
  let hasEnded = false
  const response = daemon.server.fetch(request).finally(() => {
    hasEnded = true
  })
  let turns = 0
  for (; !hasEnded; turns += 1) await new Promise(setImmediate)
  expect((await response).status).toBe(200)
  return turns
}

const paths = [
  ['transcript', `/v1/sessions/${session}/transcript`],
  ['page of 10,000 events', '/v1/events?limit=10000'],
  ['search without a match', '/v1/events?text=nothing-has-this'],
  ['summary', '/v1/events/summary?text=word'],
] as const
/** Read like the others; only their slices are their own. */
const morePaths = [
  ['page of 10,000 exported events', '/v1/journal/export?limit=10000'],
  ['verification', '/v1/journal/verify'],
  ['summary of all journals', '/v1/events/summary?scope=all&text=word'],
] as const

describe.each([...paths, ...morePaths])('a %s', (_what, path) => {
  it('lets the event loop turn while it is read', async () => {
    expect(await turnsDuring(path)).toBeGreaterThan(await turnsDuring('/v1/events?limit=1'))
  }, 60_000)
})

describe.each(paths)('a %s', (_what, path) => {
  it('does not delay other requests, when a read token requests it 20 times at once', async () => {
    const { state, all } = begin(path)
    // The requests have arrived once a request that was sent after them has its response.
    expect((await daemon.fetch('/v1/health')).status).toBe(200)
    expect(state.ended).toBeLessThan(readers)
    const responses = await all
    expect(responses.map(({ status }) => status)).toEqual(Array(readers).fill(200))
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1)
  }, 60_000)
})

describe('a transcript', () => {
  it('is the same as one that is folded at once', async () => {
    const journal = await daemon.host.store.journal(daemon.sandbox)
    const events: JournalItem[] = []
    for await (const page of readPages(journal, { session })) events.push(...page.events)
    const folded = rebuild(transcriptView({ session }), events)
    expect(await daemon.call('GET', `/v1/sessions/${session}/transcript`)).toEqual(folded)
    expect(folded.complete).toBe(true)
  })
})
