import { isGap, type JournalItem } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { newScene } from '../fixture.ts'
import { event, eventFrame, heartbeat, openStream, writeAndCut } from './event-server.ts'

async function take(tail: AsyncIterator<JournalItem>, count: number): Promise<(number | string)[]> {
  const seen: (number | string)[] = []
  while (seen.length < count) {
    const { done, value } = await tail.next()
    if (done) break
    seen.push(isGap(value) ? `gap to ${value.data.to}` : value.seq)
  }
  return seen
}

it('resumes after its cursor when a connection is lost within a frame: no event twice, none missing', async () => {
  const after: (string | null)[] = []
  const { sandbox, slept } = await newScene((exchange) => {
    after.push(exchange.query.get('after'))
    const stream = openStream(exchange)
    if (after.length === 1) writeAndCut(stream, eventFrame(1) + eventFrame(2) + eventFrame(3).slice(0, -20))
    // A server that begins a little too early.
    else if (after.length === 2) writeAndCut(stream, eventFrame(2) + eventFrame(3))
    else stream.write(eventFrame(4))
  })
  expect(await take(sandbox.journal.tail(), 4)).toEqual([1, 2, 3, 4])
  expect(after).toEqual([null, 'c2', 'c3'])
  expect(slept.every((ms) => ms >= 750 && ms <= 1_000)).toBe(true)
})

it('doubles its backoff while connections bring no event, up to 30 s', async () => {
  let count = 0
  const { sandbox, slept } = await newScene((exchange) => {
    count += 1
    if (count <= 7) exchange.request.socket.destroy()
    else openStream(exchange).write(eventFrame(1))
  })
  expect(await take(sandbox.journal.tail(), 1)).toEqual([1])
  for (const [index, most] of [1, 2, 4, 8, 16, 30, 30].entries()) {
    expect(slept[index]).toBeGreaterThanOrEqual(most * 750)
    expect(slept[index]).toBeLessThanOrEqual(most * 1_000)
  }
})

it('resumes after the cursor of a heartbeat and of an end frame', async () => {
  const after: (string | null)[] = []
  const { sandbox } = await newScene((exchange) => {
    after.push(exchange.query.get('after'))
    const stream = openStream(exchange)
    if (after.length === 1) writeAndCut(stream, eventFrame(1) + heartbeat('h9'))
    else if (after.length === 2) stream.end(`${heartbeat('h10')}event: end\ndata: {"reason":"closing"}\n\n`)
    else stream.write(eventFrame(20))
  })
  expect(await take(sandbox.journal.tail({ types: ['log.*'] }), 2)).toEqual([1, 20])
  expect(after).toEqual([null, 'h9', 'h10'])
})

it('yields gaps and resumes after them', async () => {
  const after: (string | null)[] = []
  const gap = {
    journal: 'sbx_1',
    type: 'journal.gap',
    data: { from: 2, to: 7, reason: 'trimmed', types: ['x'], cursor: 'g7' },
  }
  const { sandbox } = await newScene((exchange) => {
    after.push(exchange.query.get('after'))
    const stream = openStream(exchange)
    if (after.length === 1)
      writeAndCut(stream, `${eventFrame(1)}event: gap\ndata: ${JSON.stringify(gap)}\n\n`)
    else stream.write(eventFrame(8))
  })
  expect(await take(sandbox.journal.tail(), 3)).toEqual([1, 'gap to 7', 8])
  expect(after).toEqual([null, 'g7'])
})

it.each(['frame', 'response'])('throws a permanent error that arrives as a %s, and ends', async (how) => {
  const { sandbox, lines } = await newScene((exchange) => {
    if (how === 'response') return exchange.problem('cursor_foreign', 409)
    return openStream(exchange).write('event: error\ndata: {"code":"cursor_foreign","status":409}\n\n')
  })
  const tail = sandbox.journal.tail({ after: 'c1' })
  await expect(tail.next()).rejects.toMatchObject({ code: 'cursor_foreign' })
  expect(await tail.next()).toMatchObject({ done: true })
  expect(lines).toHaveLength(1)
})

it('throws when another server than Vitrine responds', async () => {
  const { sandbox } = await newScene(({ response }) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  )
  await expect(sandbox.journal.tail().next()).rejects.toMatchObject({ code: 'connection_failed' })
})

it.each([
  [503, 'server_closing'],
  [429, 'journal_overloaded'],
  [500, 'internal'],
])('reconnects after %d %s', async (status, code) => {
  let count = 0
  const { sandbox } = await newScene((exchange) => {
    count += 1
    if (count === 1) exchange.problem(code, status)
    else openStream(exchange).write(eventFrame(1))
  })
  expect(await take(sandbox.journal.tail(), 1)).toEqual([1])
})

it('reconnects when a connection sends nothing for the idle limit', async () => {
  let count = 0
  const { sandbox } = await newScene(
    (exchange) => {
      count += 1
      openStream(exchange).write(eventFrame(count))
    },
    { idleMs: 50 },
  )
  expect(await take(sandbox.journal.tail(), 3)).toEqual([1, 2, 3])
})

it('connects at once with after: now, and keeps the first position', async () => {
  const after: (string | null)[] = []
  const { sandbox } = await newScene((exchange) => {
    after.push(exchange.query.get('after'))
    const stream = openStream(exchange)
    if (after.length === 1) writeAndCut(stream, heartbeat('h5'))
    else stream.write(eventFrame(6))
  })
  const tail = sandbox.journal.tail({ after: 'now' })
  await expect.poll(() => after.length).toBe(1)
  // Long after the connection has failed.
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await take(tail, 1)).toEqual([6])
  expect(after).toEqual(['now', 'h5'])
})

it('closes its connection when the reader leaves the loop, and ends without an error with its signal', async () => {
  let closed = 0
  const { sandbox } = await newScene((exchange) => {
    exchange.response.once('close', () => {
      closed += 1
    })
    openStream(exchange).write(eventFrame(1))
  })
  const left = sandbox.journal.tail()
  await left.next()
  const waiting = left.next()
  await left.return?.()
  expect(await waiting).toMatchObject({ done: true })
  await expect.poll(() => closed).toBe(1)

  const caller = new AbortController()
  const ended = sandbox.journal.tail({ signal: caller.signal })
  await ended.next()
  const next = ended.next()
  caller.abort()
  expect(await next).toMatchObject({ done: true })
  await expect.poll(() => closed).toBe(2)

  const never = sandbox.journal.tail({ after: 'now', signal: AbortSignal.abort() })
  expect(await never.next()).toMatchObject({ done: true })
})

it('throws that its client was closed', async () => {
  const { client, sandbox } = await newScene((exchange) => openStream(exchange).write(eventFrame(1)))
  const tail = sandbox.journal.tail()
  await tail.next()
  const next = tail.next()
  next.catch(() => undefined)
  await client.close()
  await expect(next).rejects.toMatchObject({ code: 'connection_failed' })
})

it('does not read ahead of a reader that stalls', async () => {
  let sent = 0
  let isHeld = false
  const frame = `id: c1\ndata: ${JSON.stringify({ ...event(1), data: { text: 'x'.repeat(60_000) } })}\n\n`
  const { client } = await newScene((exchange) => {
    const stream = openStream(exchange)
    const more = () => {
      for (; sent < 2_000; sent += 1)
        if (!stream.write(frame)) {
          isHeld = true
          return void stream.once('drain', more)
        }
      return undefined
    }
    more()
  })
  const tail = client.events()
  await tail.next()
  await expect.poll(() => isHeld).toBe(true)
  await new Promise((resolve) => setTimeout(resolve, 300))
  // Of 120 MB, no more than the buffers of a few sockets.
  expect(sent).toBeLessThan(500)
})

it('serves concurrent calls of next in order', async () => {
  const { sandbox } = await newScene((exchange) => {
    const stream = openStream(exchange)
    for (const seq of [1, 2, 3]) setTimeout(() => stream.write(eventFrame(seq)), seq * 5)
  })
  const tail = sandbox.journal.tail()
  const items = await Promise.all([tail.next(), tail.next(), tail.next()])
  expect(items.map(({ value }) => value)).toEqual([event(1), event(2), event(3)])
})

it('yields frozen events', async () => {
  const { sandbox } = await newScene((exchange) => openStream(exchange).write(eventFrame(1)))
  const { value } = await sandbox.journal.tail().next()
  expect(() => Object.assign(value.data, { message: 'changed' })).toThrow()
})

it('tails the whole host under one cursor', async () => {
  const { client } = await newScene((exchange) => {
    expect(exchange.query.get('scope')).toBe('all')
    openStream(exchange).write(eventFrame(5) + eventFrame(1) + eventFrame(5))
  })
  expect(await take(client.events(), 3)).toEqual([5, 1, 5])
})
