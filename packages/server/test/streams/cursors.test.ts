import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, openDaemon, problemOf, type ResponseJson, type TestDaemon } from '../daemon.ts'
import { framesOf, frameWhere } from '../frames.ts'
import { append, isEvent, journalOf, note, openStream } from './reading.ts'

const other = 'other-of-cursors'
let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
  await daemon.call('POST', '/v1/sandboxes', { id: other, local: { isolation: 'none' } })
  await append(await journalOf(daemon), 0, 20)
  await (await journalOf(daemon, other)).append([note('a secret of the other')])
})
afterAll(() => daemon.close())

/** The response to a reader with a bad cursor: an error, or one `error` frame; never an event. */
async function refusalOf(path: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await daemon.fetch(path, { headers })
  if (response.headers.get('content-type') !== 'text/event-stream') return (await problemOf(response)).code
  for await (const frame of framesOf(response)) {
    expect(isEvent(frame), JSON.stringify(frame)).toBe(false)
    if (frame.event === 'error') {
      expect(frame).not.toHaveProperty('id')
      expect(frame.data.hint).toMatch(/\w/)
      return frame.data.code
    }
  }
  throw new Error('The stream ended without a word.')
}

const asStream = { accept: 'text/event-stream' }

describe('a cursor', () => {
  it('a cursor of another journal returns no events', async () => {
    const { cursor } = await daemon.call('GET', `/v1/sandboxes/${other}/events?limit=2`)
    const { cursor: ofAll } = await daemon.call('GET', '/v1/events?limit=2&scope=all')
    const { cursor: ofHost } = await daemon.call('GET', '/v1/events?limit=1&scope=host')
    for (const foreign of [cursor, ofAll, ofHost]) {
      const query = `?after=${encodeURIComponent(foreign)}`
      expect(await refusalOf(`/v1/events${query}`)).toBe('cursor_foreign')
      expect(await refusalOf(`/v1/events${query}`, asStream)).toBe('cursor_foreign')
      expect(await refusalOf('/v1/events', { ...asStream, 'last-event-id': foreign })).toBe('cursor_foreign')
      expect(await refusalOf(`/v1/events?before=${encodeURIComponent(foreign)}&order=desc`)).toBe(
        'cursor_foreign',
      )
    }
    const { cursor: own } = await daemon.call('GET', '/v1/events?limit=1')
    expect(await refusalOf(`/v1/events?scope=all&after=${encodeURIComponent(own)}`)).toBe('cursor_foreign')
  })

  it('a cursor of another store returns no events', async () => {
    await using elsewhere = await openDaemon()
    const { cursor } = await elsewhere.call('GET', '/v1/events?limit=1')
    expect(await refusalOf(`/v1/events?after=${encodeURIComponent(cursor)}`)).toBe('cursor_foreign')
    expect(await refusalOf('/v1/events', { ...asStream, 'last-event-id': cursor })).toBe('cursor_foreign')
  })

  it('a cursor that was truncated, changed or invented is refused', async () => {
    const { cursor } = await daemon.call('GET', '/v1/events?limit=3')
    const bad = [
      cursor.slice(0, -1),
      cursor.slice(1),
      `${cursor}x`,
      `${cursor}${cursor}`,
      cursor.toUpperCase(),
      '-1',
      '0',
      'null',
      '../../etc',
      'x'.repeat(5_000),
    ].filter((one) => one !== cursor)
    for (const one of bad) {
      const query = `?after=${encodeURIComponent(one)}`
      expect(['cursor_invalid', 'cursor_foreign', 'cursor_ahead'], one).toContain(
        await refusalOf(`/v1/events${query}`),
      )
      expect(['cursor_invalid', 'cursor_foreign', 'cursor_ahead'], one).toContain(
        await refusalOf('/v1/events', { ...asStream, 'last-event-id': one }),
      )
    }
  })

  it('may be now for a stream, which omits past events, but not for a page', async () => {
    const journal = await journalOf(daemon)
    const response = await openStream(daemon, '?after=now')
    await journal.append([note('from now on')])
    const { data } = await frameWhere(response, isEvent)
    expect(data).toMatchObject({ seq: journal.head.seq, data: { message: 'from now on' } })
    expect(await refusalOf('/v1/events?after=now')).toBe('cursor_invalid')
  })

  it('a cursor of an unknown sandbox gives not_found', async () => {
    expect(await refusalOf('/v1/sandboxes/nobody/events')).toBe('not_found')
    expect(await refusalOf('/v1/sandboxes/nobody/events', asStream)).toBe('not_found')
    expect(await daemon.host.store.journals()).not.toContain('nobody')
  })
})

describe('scope=all', () => {
  it('reads every sandbox under one cursor, in commit order', async () => {
    const [one, two] = [await journalOf(daemon), await journalOf(daemon, other)]
    const { cursor } = await daemon.call('GET', '/v1/events?scope=all&limit=10000')
    const response = await openStream(
      daemon,
      `?scope=all&types=log.message&after=${encodeURIComponent(cursor)}`,
    )
    for (let at = 0; at < 50; at += 1) await (at % 3 === 0 ? two : one).append([note(`all ${at}`)])
    const seen: string[] = []
    let middle = ''
    for await (const frame of framesOf(response)) {
      if (!isEvent(frame)) continue
      seen.push(frame.data.data.message)
      const at = seen.length - 1
      expect(frame.data.journal).toBe(at % 3 === 0 ? other : daemon.sandbox)
      if (at === 20) middle = frame.id!
      if (seen.length === 50) break
    }
    expect(seen).toEqual(Array.from({ length: 50 }, (_, at) => `all ${at}`))
    const again = await openStream(daemon, '?scope=all', { 'last-event-id': middle })
    expect((await frameWhere(again, isEvent)).data.data.message).toBe('all 21')
  })

  it('is allowed for read-only tokens, as is the host’s own journal', async () => {
    const page = await daemon.fetch('/v1/events?scope=host', { headers: bearer(daemon.readToken) })
    expect(((await page.json()) as ResponseJson).events[0]).toMatchObject({
      type: 'host.started',
      journal: 'host',
    })
  })
})
