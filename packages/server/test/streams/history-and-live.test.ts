import { describe, expect, it } from 'vitest'
import { openDaemon } from '../daemon.ts'
import { framesOf, framesUntil, frameWhere } from '../frames.ts'
import { append, isEvent, journalOf, note, numbersUntil, openStream, seqs, upTo } from './reading.ts'

describe('a stream', () => {
  it('sends history and then new events, without gap or repeat, while 20,000 events are appended', async () => {
    await using daemon = await openDaemon()
    const journal = await journalOf(daemon)
    await append(journal, 0, 5_000)
    const streams = Promise.all(
      [0, 1, 2].map(async () => numbersUntil(await openStream(daemon, '?types=log.message'), 19_999)),
    )
    await append(journal, 5_000, 20_000)
    for (const { numbers, frames } of await streams) {
      expect(numbers).toEqual(upTo(20_000))
      expect(seqs(frames)).toEqual([...seqs(frames)].sort((a, b) => a - b))
    }
  })

  it('has an id on events only', async () => {
    await using daemon = await openDaemon({ limits: { heartbeatMs: 20 } })
    const journal = await journalOf(daemon)
    await append(journal, 0, 3)
    let beats = 0
    const frames = await framesUntil(await openStream(daemon), ({ event }) => {
      if (event === 'heartbeat') beats += 1
      return beats === 3
    })
    expect(frames.filter(isEvent).length).toBeGreaterThan(3)
    for (const frame of frames) expect('id' in frame).toBe(isEvent(frame))
  })

  it('resumes after the cursor of any event, by Last-Event-ID and by ?after', async () => {
    await using daemon = await openDaemon()
    await append(await journalOf(daemon), 0, 300)
    const { frames } = await numbersUntil(await openStream(daemon, '?types=log.message'), 299)
    const events = frames.filter(isEvent)
    for (const at of [0, 1, 63, 64, 150, 298]) {
      const cursor = events[at]!.id!
      const byHeader = await openStream(daemon, '?types=log.message', { 'last-event-id': cursor })
      expect((await numbersUntil(byHeader, 299)).numbers).toEqual(upTo(300, at + 1))
      const byQuery = await openStream(daemon, `?types=log.message&after=${encodeURIComponent(cursor)}`)
      expect((await numbersUntil(byQuery, 299)).numbers).toEqual(upTo(300, at + 1))
    }
    // As a browser does it: the address stays, the header moves on.
    const first = encodeURIComponent(events[0]!.id!)
    const both = await openStream(daemon, `?after=${first}`, { 'last-event-id': events[200]!.id! })
    expect((await numbersUntil(both, 299)).numbers).toEqual(upTo(300, 201))
  })

  it('misses nothing when it is cut and resumed repeatedly', async () => {
    await using daemon = await openDaemon()
    const journal = await journalOf(daemon)
    const writing = append(journal, 0, 3_000, 7)
    const numbers: number[] = []
    let cursor: string | undefined
    let connections = 0
    while (numbers.at(-1) !== 2_999) {
      connections += 1
      const response = await openStream(
        daemon,
        '?types=log.message',
        cursor === undefined ? {} : { 'last-event-id': cursor },
      )
      let taken = 0
      for await (const frame of framesOf(response)) {
        if (!isEvent(frame)) continue
        numbers.push(Number(frame.data.data.message))
        cursor = frame.id!
        if (++taken > 137 * connections || numbers.at(-1) === 2_999) break
      }
    }
    await writing
    expect(connections).toBeGreaterThan(3)
    expect(numbers).toEqual(upTo(3_000))
  })

  it('advances the cursor in heartbeats although nothing matches', async () => {
    await using daemon = await openDaemon({ limits: { heartbeatMs: 20 } })
    const journal = await journalOf(daemon)
    const response = await openStream(daemon, '?types=run.started')
    const cursors = new Set<string>()
    let last = ''
    for await (const frame of framesOf(response)) {
      expect(frame.event).toBe('heartbeat')
      if (frame.data.cursor !== null) {
        last = frame.data.cursor
        cursors.add(last)
      }
      if (cursors.size === 4) break
      await journal.append([note('not wanted')])
    }
    const before = journal.head.seq
    await journal.append([{ type: 'run.started', run: 'run_a', data: { name: 'a' } }])
    const found = await frameWhere(
      await openStream(daemon, '?types=run.started', { 'last-event-id': last }),
      isEvent,
    )
    expect(found.data).toMatchObject({ type: 'run.started', seq: before + 1 })
    const scanned = await daemon.call('GET', `/v1/events?limit=1&after=${encodeURIComponent(last)}`)
    expect(scanned.events[0].seq).toBeGreaterThan(before - 4)
  })

  it('filters by type, session, run and text', async () => {
    await using daemon = await openDaemon()
    const journal = await journalOf(daemon)
    await journal.append([
      note('a plum'),
      { ...note('a pear'), run: 'run_a' },
      { ...note('a plum again'), run: 'run_a', session: 'one' },
      note('the end'),
    ])
    const first = async (query: string) =>
      (await frameWhere(await openStream(daemon, query), isEvent)).data.data.message
    expect(await first('?types=log.*')).toBe('a plum')
    expect(await first('?types=log.message&run=run_a')).toBe('a pear')
    expect(await first('?session=one')).toBe('a plum again')
    expect(await first('?text=pear')).toBe('a pear')
  })

  it('ends with a reason and a cursor when the daemon shuts down', async () => {
    const daemon = await openDaemon()
    await append(await journalOf(daemon), 0, 10)
    const response = await openStream(daemon)
    const frames = framesOf(response)
    let cursor = ''
    for (;;) {
      const { value } = await frames.next()
      if (value?.event === 'message') cursor = value.id!
      if (value?.data.data?.message === '9') break
    }
    daemon.server.close()
    let last = (await frames.next()).value
    while (last?.event === 'heartbeat' || (last && isEvent(last))) {
      if (isEvent(last)) cursor = last.id!
      last = (await frames.next()).value
    }
    expect(last).toEqual({ event: 'end', data: { cursor, reason: 'closing' } })
    expect((await frames.next()).done).toBe(true)
    const late = await daemon.fetch('/v1/health')
    expect(await late.json()).toMatchObject({ status: 503, code: 'server_closing' })
    await daemon.close()
  })

  it('a stream of a restarted daemon resumes after the cursor of the earlier one', async () => {
    const first = await openDaemon()
    await append(await journalOf(first), 0, 50)
    const { cursor } = await numbersUntil(await openStream(first, '?types=log.message'), 49)
    await first.listening.close()
    await first.host.close()
    const second = await openDaemon({ data: first.data })
    try {
      await append(await journalOf(second), 50, 60)
      const again = await openStream(second, '?types=log.message', { 'last-event-id': cursor })
      expect((await numbersUntil(again, 59)).numbers).toEqual(upTo(60, 50))
    } finally {
      await second.close()
      await first.close()
    }
  })
})
