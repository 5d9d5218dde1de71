import { describe, expect, it } from 'vitest'
import { openDaemon, type TestDaemon } from '../daemon.ts'
import { framesOf, framesUntil } from '../frames.ts'
import { dial } from '../raw.ts'
import { append, isEvent, journalOf, note, numbersUntil, openStream, upTo } from './reading.ts'

const padding = 'x'.repeat(4_000)

describe('a reader that stops reading', () => {
  it('loses its connection but no events, and affects no other reader', async () => {
    await using daemon = await openDaemon({ limits: { stallMs: 2_000, heartbeatMs: 50 } })
    const journal = await journalOf(daemon)
    await journal.append([note('begin')])
    using stalled = await dial(
      daemon.port,
      `GET /v1/events?types=log.message HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${daemon.token}\r\naccept: text/event-stream\r\n\r\n`,
    )
    await expect.poll(() => stalled.text).toContain('begin')
    stalled.socket.pause()

    const reading = openStream(daemon, '?types=log.message&after=now').then((response) =>
      numbersUntil(response, 19_999),
    )
    // More than the buffers of both sides hold.
    for (let at = 0; at < 4_000; at += 50)
      await journal.append(Array.from({ length: 50 }, (_, index) => note(`${at + index} ${padding}`)))
    await append(journal, 19_000, 20_000)
    expect((await reading).numbers.slice(-1_000)).toEqual(upTo(20_000, 19_000))

    // Its connection is closed while it does not read: what it finds then is what was on the way.
    await expect.poll(() => openStreams(daemon), { timeout: 20_000 }).toBe(0)
    stalled.socket.resume()
    const text = await stalled.ended
    const ids = [...text.matchAll(/^id: (.+)\ndata: .*\n\n/gm)].map(([, id]) => id!)
    expect(text).not.toContain('19999')
    expect(text).not.toContain('event: end')
    expect(text.endsWith('0\r\n\r\n')).toBe(false)

    const again = await openStream(daemon, '?types=log.message', { 'last-event-id': ids.at(-1)! })
    const seen = (await numbersUntil(again, 19_999)).frames.filter(isEvent)
    expect(ids.length + seen.length).toBe(1 + 4_000 + 1_000)
  })

  it('of an export loses its connection, and continues after the last item that it has', async () => {
    await using daemon = await openDaemon({ limits: { stallMs: 2_000, heartbeatMs: 50 } })
    const journal = await journalOf(daemon)
    for (let at = 0; at < 4_000; at += 50)
      await journal.append(Array.from({ length: 50 }, (_, index) => note(`${at + index} ${padding}`)))
    const { seq } = journal.head
    using stalled = await dial(
      daemon.port,
      `GET /v1/journal/export HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${daemon.token}\r\naccept: text/event-stream\r\n\r\n`,
    )
    stalled.socket.pause()
    await expect.poll(() => openStreams(daemon)).toBe(1)
    await expect.poll(() => openStreams(daemon), { timeout: 20_000 }).toBe(0)
    stalled.socket.resume()
    const text = await stalled.ended
    const ids = [...text.matchAll(/^id: (.+)\ndata: .*\n\n/gm)].map(([, id]) => Number(id))
    expect(ids).toEqual(ids.map((_, index) => index + 1))
    expect(ids.length).toBeLessThan(seq)
    const headers = { accept: 'text/event-stream', 'last-event-id': String(ids.at(-1) ?? 0) }
    const again = await daemon.fetch('/v1/journal/export', { headers })
    const rest = await framesUntil(again, ({ id }) => id === String(seq))
    expect(rest.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]))).toEqual(
      Array.from({ length: seq - ids.length }, (_, index) => ids.length + index + 1),
    )
  })

  it('may be slow as long as it reads', async () => {
    await using daemon = await openDaemon({ limits: { stallMs: 2_000, heartbeatMs: 50 } })
    const journal = await journalOf(daemon)
    for (let at = 0; at < 2_000; at += 50)
      await journal.append(Array.from({ length: 50 }, (_, index) => note(`${at + index} ${padding}`)))
    const numbers: number[] = []
    for await (const frame of framesOf(await openStream(daemon, '?types=log.message'))) {
      if (!isEvent(frame)) continue
      numbers.push(Number.parseInt(frame.data.data.message, 10))
      if (numbers.length % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 20))
      if (numbers.length === 2_000) break
    }
    expect(numbers).toEqual(upTo(2_000))
  })

  it('a reader that disconnects leaves nothing open', async () => {
    await using daemon = await openDaemon({ limits: { heartbeatMs: 20 } })
    const streams = await Promise.all(Array.from({ length: 20 }, () => openStream(daemon)))
    expect(await openStreams(daemon)).toBe(20)
    for (const response of streams) await response.body?.cancel()
    const aborted = new AbortController()
    const accept = { accept: 'text/event-stream' }
    await daemon.fetch('/v1/events', { headers: accept, signal: aborted.signal })
    aborted.abort()
    await expect.poll(() => openStreams(daemon)).toBe(0)
    await append(await journalOf(daemon), 0, 10)
    expect((await daemon.fetch('/v1/health')).status).toBe(200)
  })

  it('a HEAD request leaves nothing open', async () => {
    await using daemon = await openDaemon({ limits: { heartbeatMs: 20 } })
    const headers = { accept: 'text/event-stream' }
    for (let count = 0; count < 5; count += 1) {
      const response = await daemon.fetch('/v1/events', { method: 'HEAD', headers })
      expect(response.status).toBe(200)
      expect(await response.text()).toBe('')
    }
    await expect.poll(() => openStreams(daemon)).toBe(0)
  })
})

async function openStreams(daemon: TestDaemon): Promise<number> {
  const text = await (await daemon.fetch('/metrics')).text()
  return Number(/^vitrine_streams_open (\d+)$/m.exec(text)?.[1])
}
