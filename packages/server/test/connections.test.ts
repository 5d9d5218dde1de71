import { describe, expect, it } from 'vitest'
import { scale } from '../../../conformance/src/scale.ts'
import { bearer, openDaemon, readToken, token } from './daemon.ts'
import { dial, type RawConnection, readResponse, say } from './raw.ts'

const health = (port: number) =>
  say(port, `GET /v1/health HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}`)

describe('a thousand half-open connections', () => {
  it('do not block other clients, and are all closed in the end', async () => {
    await using daemon = await openDaemon({ listen: { headersMs: 1_500 } })
    const half = await Promise.all(
      Array.from({ length: 1_000 }, () => dial(daemon.port, 'GET /v1/health HTTP/1.1\r\nhost: local')),
    )
    try {
      for (let count = 0; count < 5; count += 1) expect((await daemon.fetch('/v1/health')).status).toBe(200)
      const responses = (await Promise.all(half.map(({ ended }) => ended))).map(readResponse)
      for (const { status, headers } of responses) {
        expect(status).toBe(408)
        expect(headers.get('content-type')).toBe('application/problem+json')
      }
    } finally {
      for (const connection of half) connection[Symbol.dispose]()
    }
    expect((await daemon.fetch('/v1/health')).status).toBe(200)
  })

  it('are refused above the limit', async () => {
    await using daemon = await openDaemon({ listen: { maxConnections: 5, headersMs: 60_000 } })
    // The connection that opened the daemon counts too, and stays open.
    const some = await Promise.all(Array.from({ length: 20 }, () => dial(daemon.port, 'GET /')))
    const closed = new Set<number>()
    for (const [index, { ended }] of some.entries()) void ended.then(() => closed.add(index))
    await expect.poll(() => closed.size).toBeGreaterThanOrEqual(15)
    for (const connection of some) connection[Symbol.dispose]()
    await expect.poll(async () => (await daemon.fetch('/v1/health').catch(() => undefined))?.status).toBe(200)
  })
})

describe('as many connections without a token as the daemon takes', () => {
  it.each([
    ['that send nothing', ''],
    ['that never end their headers', 'GET /v1/health HTTP/1.1\r\nhost: localhost\r\nx: '],
    [
      'with an unknown token',
      'GET /v1/health HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer wrong-one\r\n\r\n',
    ],
    ['that load a page and do not read it', 'GET /ui/ HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(50)],
  ])(
    'do not lock out the holders of a token: %s',
    async (_what, written) => {
      await using daemon = await openDaemon({
        listen: { headersMs: 600_000, maxConnections: scale.connections },
      })
      const flood: RawConnection[] = []
      try {
        while (flood.length < scale.connections)
          flood.push(...(await Promise.all(Array.from({ length: 100 }, () => dial(daemon.port, written)))))
        if (written.includes('/ui/')) for (const { socket } of flood) socket.pause()
        // Each on a connection of its own, one after the other and at once.
        for (let count = 0; count < 5; count += 1) expect((await health(daemon.port)).status).toBe(200)
        const several = await Promise.all(Array.from({ length: 50 }, () => health(daemon.port)))
        expect(several.map(({ status }) => status)).toEqual(Array(50).fill(200))
        expect(flood.filter(({ socket }) => !socket.closed).length).toBeGreaterThan(0)
      } finally {
        for (const connection of flood) connection[Symbol.dispose]()
      }
    },
    120_000,
  )

  it('do not lock out a holder by requests that never end', async () => {
    await using daemon = await openDaemon({ listen: { maxConnections: 40 } })
    const flood: RawConnection[] = []
    try {
      // Each has a request whose body does not come.
      for (let count = 0; count < 60; count += 1)
        flood.push(
          await dial(
            daemon.port,
            'POST /v1/exec HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n',
          ),
        )
      for (let count = 0; count < 5; count += 1) expect((await health(daemon.port)).status).toBe(200)
    } finally {
      for (const connection of flood) connection[Symbol.dispose]()
    }
  })

  it('make room for holders of a token when no connection is left', async () => {
    await using daemon = await openDaemon({ listen: { maxConnections: 40 } })
    const stream = `GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\naccept: text/event-stream\r\n\r\n`
    const open: RawConnection[] = []
    try {
      for (let count = 0; count < 30; count += 1) {
        const holder = await dial(daemon.port, stream)
        open.push(holder)
        await expect.poll(() => holder.text).toContain('200 OK')
      }
      for (let count = 0; count < 15; count += 1) open.push(await dial(daemon.port, 'GET /'))
      for (let count = 0; count < 5; count += 1) expect((await health(daemon.port)).status).toBe(200)
      expect(open.slice(0, 30).every(({ socket }) => !socket.closed)).toBe(true)
    } finally {
      for (const connection of open) connection[Symbol.dispose]()
    }
  })

  it('do not end a stream of a holder', async () => {
    await using daemon = await openDaemon({ listen: { maxConnections: 40 } })
    using stream = await dial(
      daemon.port,
      `GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\naccept: text/event-stream\r\n\r\n`,
    )
    await expect.poll(() => stream.text).toContain('event: heartbeat')
    const flood: RawConnection[] = []
    try {
      for (let count = 0; count < 100; count += 1) flood.push(await dial(daemon.port, 'GET /'))
      const closed = () => flood.filter(({ socket }) => socket.closed).length
      await expect.poll(closed).toBeGreaterThanOrEqual(80)
      // The oldest were closed, with a reason.
      expect(readResponse(await flood[0]!.ended)).toMatchObject({
        status: 408,
        body: expect.stringContaining('too_many_connections'),
      })
      expect(flood.at(-1)!.socket.closed).toBe(false)
      await daemon.host.store
        .journal(daemon.sandbox)
        .then((journal) =>
          journal.append([{ type: 'log.message', data: { level: 'info', message: 'still streamed' } }]),
        )
      await expect.poll(() => stream.text).toContain('still streamed')
    } finally {
      for (const connection of flood) connection[Symbol.dispose]()
    }
  })
})

describe('connections of a read token', () => {
  it('do not lock out the holder of a full one, and are refused beyond their share', async () => {
    await using daemon = await openDaemon({ listen: { maxConnections: 40 } })
    const stream = `GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${readToken}\r\naccept: text/event-stream\r\n\r\n`
    const open: RawConnection[] = []
    try {
      for (let count = 0; count < 60; count += 1) {
        const reader = await dial(daemon.port, stream)
        open.push(reader)
        await expect.poll(() => reader.text || reader.socket.closed).toBeTruthy()
      }
      for (let count = 0; count < 5; count += 1) expect((await health(daemon.port)).status).toBe(200)
      const isStreaming = ({ text, socket }: RawConnection) => text.includes('200 OK') && !socket.closed
      expect(open.slice(0, 20).every(isStreaming)).toBe(true)
      expect(open.filter(isStreaming)).toHaveLength(20)
      expect(open[20]?.text).toMatch(/503[\s\S]*too_many_connections/)
    } finally {
      for (const connection of open) connection[Symbol.dispose]()
    }
    const viewer = { headers: bearer(readToken) }
    await expect.poll(async () => (await daemon.fetch('/v1/health', viewer)).status).toBe(200)
  })
})

describe('a connection', () => {
  it('a connection that sends its headers byte by byte is closed in time', async () => {
    await using daemon = await openDaemon({ listen: { headersMs: 500 } })
    using slow = await dial(daemon.port, 'GET /v1/health HTTP/1.1\r\n')
    const timer = setInterval(() => slow.socket.write('x'), 50)
    const { status, body } = readResponse(await slow.ended)
    clearInterval(timer)
    expect(status).toBe(408)
    expect(JSON.parse(body)).toMatchObject({ status: 408, code: 'timeout', hint: expect.any(String) })
  })

  it.each([
    ['bytes', Buffer.from([0, 1, 2, 255, 254, 13, 10, 13, 10])],
    ['another protocol', Buffer.from('SSH-2.0-OpenSSH_9.6\r\n')],
    ['TLS', Buffer.from('160301020001000001fc0303', 'hex')],
    ['HTTP/2', Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')],
    ['a version that is none', Buffer.from('GET / HTTP/9.9\r\n\r\n')],
    ['a line that never ends', Buffer.alloc(100_000, 'A')],
    [
      'two lengths',
      Buffer.from('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n'),
    ],
    [
      'a length and chunks',
      Buffer.from(
        `POST /v1/exec HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      ),
    ],
    ['a header with a NUL', Buffer.from('GET / HTTP/1.1\r\nhost: localhost\r\nx: a\0b\r\n\r\n')],
    ['a negative length', Buffer.from('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n')],
  ])(
    'a connection that sends %s instead of HTTP gets an error and is closed, and the daemon keeps running',
    async (_what, bytes) => {
      await using daemon = await openDaemon()
      using connection = await dial(daemon.port, bytes)
      const { status, headers, body } = readResponse(await connection.ended)
      expect([400, 431]).toContain(status)
      expect(headers.get('content-type')).toBe('application/problem+json')
      expect(JSON.parse(body)).toMatchObject({ code: 'body_invalid', hint: expect.any(String) })
      expect((await daemon.fetch('/v1/health')).status).toBe(200)
    },
  )

  it('a connection with malformed chunks is closed, and nothing is run', async () => {
    await using daemon = await openDaemon()
    using connection = await dial(
      daemon.port,
      `POST /v1/exec HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n{"command":"id"}\r\n0\r\n\r\n`,
    )
    await connection.ended
    const { events } = await daemon.call('GET', '/v1/events?types=operation.started&text=exec')
    expect(events).toEqual([])
  })
})
