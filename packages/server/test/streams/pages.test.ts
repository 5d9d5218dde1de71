import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDaemon, type ResponseJson, type TestDaemon } from '../daemon.ts'
import { framesUntil } from '../frames.ts'
import { append, isEvent, journalOf, note, openStream } from './reading.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon({ limits: { heartbeatMs: 20 } })
})
afterAll(() => daemon.close())

const read = (query: string) => daemon.call('GET', `/v1/events${query}`)
const encoded = encodeURIComponent

describe('a page', () => {
  it('has at most the requested number of events, and all pages together have every event', async () => {
    await append(await journalOf(daemon), 0, 25)
    const seqs: number[] = []
    let after = ''
    for (let end = false; !end; ) {
      const page = await read(`?limit=7${after && `&after=${encoded(after)}`}`)
      expect(page.events.length).toBeLessThanOrEqual(7)
      seqs.push(...page.events.map(({ seq }: { seq: number }) => seq))
      ;({ cursor: after, end } = page)
    }
    expect(seqs).toEqual(seqs.map((_, index) => index + 1))
    const backwards = await read('?limit=5&order=desc')
    expect(backwards.events[0].seq).toBe(seqs.at(-1))
  })

  it('can start at a seq or at a time', async () => {
    const journal = await journalOf(daemon)
    const [event] = await journal.append([note('here')])
    const bySeq = await read(`?at=${event!.seq}&limit=1`)
    const byTime = await read(`?at=${encoded(event!.time)}&types=log.message&text=here`)
    expect(byTime.events.at(-1)).toEqual({ ...event })
    expect(bySeq.events[0].seq).toBeGreaterThanOrEqual(event!.seq)
  })

  it('advances its cursor although nothing matched', async () => {
    const { events, cursor, end } = await read('?types=run.finished')
    expect({ events, end }).toEqual({ events: [], end: true })
    await (await journalOf(daemon)).append([note('the next')])
    expect((await read(`?limit=1&after=${encoded(cursor)}`)).events[0].data.message).toBe('the next')
  })
})

describe('a page that waits', () => {
  it('responds as soon as there is an event', async () => {
    const journal = await journalOf(daemon)
    const { cursor } = await read('?limit=10000')
    const waiting = read(`?wait=60000&types=log.message&after=${encoded(cursor)}`)
    await journal.append([{ type: 'run.started', run: 'run_w', data: { name: 'not this' } }])
    await journal.append([note('this')])
    expect((await waiting).events).toMatchObject([{ data: { message: 'this' } }])
  })

  it('responds at once if there is an event already', async () => {
    const { events } = await read('?wait=60000&limit=1')
    expect(events).toHaveLength(1)
  })

  it('responds after its time limit with a cursor that skips events that did not match', async () => {
    const journal = await journalOf(daemon)
    const { cursor: begin } = await read('?limit=10000')
    const waiting = read(`?wait=200&types=run.finished&after=${encoded(begin)}`)
    await journal.append([note('not wanted')])
    const page = await waiting
    expect(page).toMatchObject({ events: [], end: true })
    expect((await read(`?after=${encoded(page.cursor)}`)).events).toEqual([])
    await journal.append([note('wanted later')])
    const { events } = await read(`?after=${encoded(page.cursor)}`)
    expect(events).toMatchObject([{ data: { message: 'wanted later' } }])
  })

  it('may start at its own position', async () => {
    const journal = await journalOf(daemon)
    const waiting = read(`?wait=60000&at=${journal.head.seq}&types=run.failed,log.message&text=unheard`)
    await journal.append([note('unheard')])
    expect((await waiting).events).toMatchObject([{ data: { message: 'unheard' } }])
  })

  it('ends when the daemon closes', async () => {
    const closing = await openDaemon()
    const page = await closing.call('GET', '/v1/events?limit=10000')
    const waiting = closing.fetch(`/v1/events?wait=60000&after=${encoded(page.cursor)}`)
    closing.server.close()
    const response: ResponseJson = await (await waiting).json()
    await closing.close()
    // It was waiting, or it came too late to.
    expect(response).toMatchObject(
      response.code === undefined ? { events: [], end: true } : { code: 'server_closing' },
    )
  })

  it('stops waiting when the client disconnects', async () => {
    const gone = new AbortController()
    const { cursor } = await read('?limit=10000')
    const waiting = daemon.fetch(`/v1/events?wait=60000&after=${encoded(cursor)}`, { signal: gone.signal })
    gone.abort()
    await expect(waiting).rejects.toThrow()
    expect((await daemon.fetch('/v1/health')).status).toBe(200)
  })
})

describe('a trimmed range', () => {
  it('arrives as a gap without an id, on a stream and on a page', async () => {
    const first = await openDaemon()
    const before = await journalOf(first)
    await append(before, 0, 200)
    const { cursor: early } = await first.call('GET', '/v1/events?limit=3')
    await before.trim({ events: 50 })
    await first.listening.close()
    await first.host.close()
    // Recent events come from memory; another daemon has none in memory.
    await using trimmed = await openDaemon({ data: first.data })
    const journal = await journalOf(trimmed)
    await journal.append([note('afterwards')])
    const isLast = ({ data }: { data: { data?: { message?: string } } }) =>
      data.data?.message === 'afterwards'
    for (const headers of [{}, { 'last-event-id': early }]) {
      const frames = await framesUntil(await openStream(trimmed, '', headers), isLast)
      const gaps = frames.filter(({ event }) => event === 'gap')
      expect(gaps.length).toBeGreaterThan(0)
      for (const gap of gaps) {
        expect(gap).not.toHaveProperty('id')
        expect(gap.data).toMatchObject({
          type: 'journal.gap',
          data: { from: expect.any(Number), to: expect.any(Number), reason: expect.any(String) },
        })
      }
      // Events and gaps together are all there ever was.
      let next = 'last-event-id' in headers ? 4 : 1
      for (const frame of frames) {
        if (frame.event === 'gap') {
          expect(frame.data.data.from).toBe(next)
          next = frame.data.data.to + 1
        } else if (isEvent(frame)) expect(frame.data.seq).toBe(next++)
      }
      expect(next).toBe(journal.head.seq + 1)
    }
    const page = await trimmed.call('GET', '/v1/events?limit=1')
    expect(page.events[0]).toMatchObject({ type: 'journal.gap' })
    rmSync(first.data, { recursive: true, force: true })
  })
})
