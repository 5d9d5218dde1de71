import type { Journal } from '@vitrine/journal'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, openDaemon, problemOf, type ResponseJson, readToken, type TestDaemon } from '../daemon.ts'
import { framesUntil } from '../frames.ts'

let daemon: TestDaemon
let journal: Journal
const viewer = { headers: bearer(readToken) }
const log = (message: string) => ({ type: 'log.message', data: { level: 'info', message } })

beforeAll(async () => {
  daemon = await openDaemon()
  journal = await daemon.host.store.journal(daemon.sandbox)
  await journal.append(Array.from({ length: 20 }, (_, index) => log(`entry ${index}`)))
})
afterAll(() => daemon.close())

/** The problem of a request with the read token. */
async function refusal(path: string, headers: Record<string, string> = {}): Promise<ResponseJson> {
  return problemOf(await daemon.fetch(path, { headers: { ...bearer(readToken), ...headers } }))
}

describe('the head, the proof and the export of a journal', () => {
  it('are read with a read token, of the default sandbox, of another one and of the host', async () => {
    const read = async (path: string): Promise<ResponseJson> => (await daemon.fetch(path, viewer)).json()
    const { head } = journal
    const paths = ['/v1', `/v1/sandboxes/${daemon.sandbox}`]
    for (const path of paths) {
      expect(await read(`${path}/journal/head`)).toEqual(head)
      expect(await read(`${path}/journal/verify`)).toMatchObject({ ok: true, head, missing: 0 })
      const { items } = await read(`${path}/journal/export?after=2&limit=3`)
      expect(items).toEqual(await journal.export({ after: 2, limit: 3 }))
    }
    const query = `seq=${head.seq}&hash=${'0'.repeat(64)}`
    expect(await read(`/v1/journal/verify?${query}`)).toMatchObject({ ok: false, seq: head.seq })
    const host = await daemon.host.store.journal('host')
    expect(await read('/v1/sandboxes/host/journal/head')).toEqual(host.head)
  })

  it('start no stopped sandbox', async () => {
    const { id } = await daemon.call('POST', '/v1/sandboxes', { local: { isolation: 'none' } })
    await daemon.call('POST', `/v1/sandboxes/${id}/stop`)
    const stopped = await daemon.host.store.journal(id)
    const { head } = stopped
    for (const path of ['journal/head', 'journal/verify', 'journal/export', 'events/summary', 'events']) {
      const response = await daemon.fetch(`/v1/sandboxes/${id}/${path}`, viewer)
      expect(response.status, path).toBe(200)
      await response.body?.cancel()
    }
    expect(stopped.head).toEqual(head)
    expect(await daemon.call('GET', `/v1/sandboxes/${id}`)).toMatchObject({ state: 'stopped' })
  })

  it('are refused for an unknown sandbox, which gets no journal, and so is a blob', async () => {
    const blob = `blobs/sha256:${'0'.repeat(64)}`
    for (const path of ['journal/head', 'journal/verify', 'journal/export', blob])
      expect(await refusal(`/v1/sandboxes/sbx_none/${path}`), path).toMatchObject({ code: 'not_found' })
    expect(await daemon.host.store.journals()).not.toContain('sbx_none')
    expect(await refusal(`/v1/sandboxes/${daemon.sandbox}/${blob}`)).toMatchObject({ code: 'blob_not_found' })
  })

  it('are refused with invalid parameters, each with its code', async () => {
    const ahead = journal.head.seq + 1
    for (const [query, code] of [
      ['export?after=x', 'argument_invalid'],
      ['export?after=-1', 'argument_invalid'],
      ['export?limit=0', 'argument_invalid'],
      ['export?limit=10001', 'argument_invalid'],
      ['export?before=3', 'argument_invalid'],
      [`export?after=${ahead}`, 'cursor_ahead'],
      ['verify?seq=3', 'argument_invalid'],
      ['verify?hash=00', 'argument_invalid'],
      ['head?at=3', 'argument_invalid'],
    ] as const)
      expect(await refusal(`/v1/journal/${query}`), query).toMatchObject({ code })
    const accept = 'text/event-stream'
    expect(await refusal(`/v1/journal/export?after=${ahead}`, { accept })).toMatchObject({
      code: 'cursor_ahead',
    })
    for (const id of ['x', '-1', '1.5', '9'.repeat(20)])
      expect(await refusal('/v1/journal/export', { accept, 'last-event-id': id }), id).toMatchObject({
        code: 'cursor_invalid',
      })
  })
})

describe('a stream of an export', () => {
  it('has past items and then new ones, with the seq to continue after as their id', async () => {
    const headers = { ...bearer(readToken), accept: 'text/event-stream', 'last-event-id': '4' }
    const response = await daemon.fetch('/v1/journal/export?after=1', { headers })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const { seq } = journal.head
    const reading = framesUntil(response, ({ id }) => id === String(seq + 1))
    await journal.append([log('live')])
    const frames = (await reading).filter(({ event }) => event === 'message')
    expect(frames.map(({ data }) => data)).toEqual(await journal.export({ after: 4 }))
    expect(frames.map(({ id, data }) => [id, String(data.event.seq)])).toEqual(
      frames.map(({ id }) => [id, id]),
    )
  })

  it('has the holes that trimming left, with the hash to continue from', async () => {
    await using other = await openDaemon({ host: { install: 'never' } })
    const trimmed = await other.host.store.journal('host')
    await trimmed.append(Array.from({ length: 3_000 }, (_, index) => log(`entry ${index}`)))
    await trimmed.trim({ events: 10 })
    const [hole] = (await trimmed.export()).filter((item) => 'hole' in item)
    expect(hole).toBeDefined()
    const response = await other.fetch('/v1/sandboxes/host/journal/export', {
      headers: { accept: 'text/event-stream' },
    })
    const frames = await framesUntil(response, ({ data }) => 'hole' in data)
    expect(frames.at(-1)).toMatchObject({ id: String(hole!.hole.to), data: hole })
  })
})

describe('events of all journals', () => {
  it('are limited to some journals by pages, waits, streams and summaries', async () => {
    const { id } = await daemon.call('POST', '/v1/sandboxes', { local: { isolation: 'none' } })
    const other = await daemon.host.store.journal(id)
    const filter = `scope=all&journals=${id},host`
    const read = async (path: string): Promise<ResponseJson> => (await daemon.fetch(path, viewer)).json()
    const journalsOf = ({ events }: ResponseJson) =>
      new Set(events.map((event: ResponseJson) => event.journal))
    const page = await read(`/v1/events?${filter}`)
    expect(journalsOf(page)).toEqual(new Set([id, 'host']))
    expect(await read(`/v1/events/summary?${filter}&types=sandbox.*`)).toMatchObject({
      counts: { 'sandbox.created': 1 },
    })
    const after = encodeURIComponent(page.cursor)
    const waiting = read(`/v1/events?${filter}&after=${after}&wait=20000`)
    await journal.append([log('not this one')])
    await other.append([log('this one')])
    const { events } = await waiting
    expect(events).toMatchObject([{ journal: id, data: { message: 'this one' } }])
    const headers = { ...bearer(readToken), accept: 'text/event-stream' }
    const response = await daemon.fetch(`/v1/events?${filter}&after=${after}`, { headers })
    const frames = await framesUntil(response, ({ data }) => data?.data?.message === 'this one')
    expect(frames.filter(({ event }) => event === 'message')).toHaveLength(1)
  })

  it('begin at a time', async () => {
    const [last] = (await daemon.call('GET', '/v1/events?order=desc&limit=1')).events
    const at = encodeURIComponent(last.time)
    const { events } = await daemon.call('GET', `/v1/events?scope=all&at=${at}`)
    expect(events.length).toBeGreaterThan(0)
    expect(events.every(({ time }: ResponseJson) => time >= last.time)).toBe(true)
    expect((await daemon.call('GET', '/v1/events?scope=all&at=2999-01-01')).events).toEqual([])
  })

  it('are refused for unknown journals, too many of them, or another scope', async () => {
    const many = Array.from({ length: 101 }, (_, index) => `j${index}`).join()
    for (const [query, code] of [
      ['scope=all&journals=sbx_none', 'not_found'],
      ['scope=all&journals=host,sbx_none', 'not_found'],
      ['scope=all&journals=..', 'not_found'],
      [`scope=all&journals=${many}`, 'argument_invalid'],
      ['journals=host', 'argument_invalid'],
      ['scope=host&journals=host', 'argument_invalid'],
      ['scope=all&journal=host', 'argument_invalid'],
    ] as const)
      for (const path of ['/v1/events', '/v1/events/summary'])
        for (const headers of [{}, { accept: 'text/event-stream' }])
          expect(await refusal(`${path}?${query}`, headers), `${path}?${query}`).toMatchObject({ code })
    expect((await daemon.call('GET', '/v1/events?scope=all&journals=')).events).toEqual([])
    expect(await daemon.host.store.journals()).not.toContain('sbx_none')
  })
})
