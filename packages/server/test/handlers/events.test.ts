import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allEvents, bearer, jsonBody, openDaemon, problemOf, readToken, type TestDaemon } from '../daemon.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
})
afterAll(() => daemon.close())

const record = (events: unknown) => daemon.fetch('/v1/events', { method: 'POST', ...jsonBody({ events }) })

describe('A page of events', () => {
  it('refers to a blob for a string that is too long for an event, as its schema says', async () => {
    await using daemon = await openDaemon()
    const long = 'x'.repeat(100_000)
    await daemon.call('POST', '/v1/exec', { command: `true ${long}` })
    await daemon.call('POST', '/v1/events', {
      events: [{ type: 'log.message', data: { level: 'info', message: long } }],
    })
    const events = await allEvents(daemon, '&types=operation.started,process.started,log.message')
    const blob = { blob: expect.stringMatching(/^sha256:/), bytes: expect.any(Number) }
    expect(events.find(({ type }) => type === 'log.message').data.message).toMatchObject(blob)
    expect(events.find(({ data }) => data.op === 'exec').data.command).toMatchObject(blob)
    expect(events.find(({ type }) => type === 'process.started').data.argv).toContainEqual(
      expect.objectContaining(blob),
    )
  })
})

describe('events', () => {
  it('records the events of a run with the name of the caller', async () => {
    const response = await record([
      { type: 'run.started', run: 'run_1', data: { name: 'work' } },
      { type: 'log.message', run: 'run_1', data: { level: 'info', message: 'halfway' } },
      { type: 'run.finished', run: 'run_1', data: { outcome: 'ok' } },
    ])
    expect(response.status, await response.text()).toBe(204)
    const { events } = await daemon.call('GET', '/v1/events?run=run_1')
    expect(events.map(({ type }: { type: string }) => type)).toEqual([
      'run.started',
      'log.message',
      'run.finished',
    ])
    expect(events[0]).toMatchObject({ actor: 'alice', source: 'runtime' })
  })

  it('refuses event types that only the engine may write, with their whole batch', async () => {
    const { cursor } = await daemon.call('GET', '/v1/events?limit=10000')
    for (const bad of [
      { type: 'sandbox.destroyed', data: {} },
      { type: 'permission.resolved', data: { permission: 'x', by: 'alice' } },
      { type: 'operation.finished', operation: 'x', data: {} },
      { type: 'process.exited', data: {} },
      { type: 'no.such.type', data: {} },
      { type: 'log.message', data: { level: 'loud' } },
      { type: 'log.message' },
      { data: {} },
      {},
    ]) {
      const good = { type: 'log.message', data: { level: 'info', message: 'rides along' } }
      const problem = await problemOf(await record([good, bad]))
      expect(problem.status, JSON.stringify(bad)).toBeGreaterThanOrEqual(400)
      expect(problem.status, JSON.stringify(bad)).toBeLessThan(500)
    }
    for (const none of [5, 'x', [5], [null], [[]]])
      expect((await problemOf(await record(none))).status).toBe(400)
    const { events } = await daemon.call('GET', `/v1/events?after=${encodeURIComponent(cursor)}`)
    expect(events).toEqual([])
  })

  it('cannot set another source, seq or time', async () => {
    await record([
      {
        type: 'log.message',
        source: 'engine',
        seq: 1,
        time: '1999-01-01T00:00:00Z',
        journal: 'host',
        data: { level: 'info', message: 'who am I' },
      },
    ])
    const { events } = await daemon.call('GET', '/v1/events?text=who%20am%20I')
    for (const event of events) {
      expect(event.source).not.toBe('engine')
      expect(event.journal).toBe(daemon.sandbox)
      expect(event.time).not.toContain('1999')
    }
  })

  it('are counted in a summary', async () => {
    const summary = await daemon.call('GET', '/v1/events/summary?buckets=4')
    expect(summary.buckets.length).toBeLessThanOrEqual(4)
    expect(summary.total).toBeGreaterThan(0)
    expect(summary.counts).toHaveProperty('sandbox.created', 1)
    const some = await daemon.call('GET', '/v1/events/summary?types=sandbox.created')
    expect(some.total).toBe(1)
  })

  it('go to sinks, whose lag is listed', async () => {
    expect(await daemon.call('GET', '/v1/sinks')).toEqual({ sinks: [] })
  })
})

describe('a blob', () => {
  it('is read whole and in ranges, as a download that is never run', async () => {
    const bytes = randomBytes(100_000)
    const { blob } = await daemon.host.store.putBlob(bytes)
    const journal = await daemon.host.store.journal(daemon.sandbox)
    await journal.append([
      { type: 'foreign.event', data: { type: 'x', data: { blob, bytes: bytes.length } } },
    ])
    const path = `/v1/blobs/${encodeURIComponent(blob)}`
    const whole = await daemon.fetch(path, { headers: bearer(readToken) })
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true)
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-length': '100000',
      'content-type': 'application/octet-stream',
      'content-security-policy': 'sandbox',
      'content-disposition': 'attachment',
      etag: `"${blob}"`,
    })
    const part = await daemon.fetch(path, { headers: { range: 'bytes=10-19' } })
    expect(part.status).toBe(206)
    expect(part.headers.get('content-range')).toBe('bytes 10-19/100000')
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(10, 20))).toBe(true)
    const beyond = await daemon.fetch(path, { headers: { range: 'bytes=100000-' } })
    expect(await problemOf(beyond)).toMatchObject({ status: 416, code: 'range_invalid' })
    const none = await daemon.fetch(`/v1/blobs/sha256:${'0'.repeat(64)}`)
    expect(await problemOf(none)).toMatchObject({ status: 404, code: 'blob_not_found' })
    // A blob that was read in part does not stay open.
    for (let count = 0; count < 50; count += 1) await (await daemon.fetch(path)).body?.cancel()
    expect((await daemon.fetch(path)).status).toBe(200)
  })
})
