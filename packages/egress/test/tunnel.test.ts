import { createHash, randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkEventInput } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { closed, dialPlain, hear, openTunnel, readHead, say, statusOf } from './fixtures/client.ts'
import { endings, ofType, openProxy, openUpstream } from './fixtures/proxy.ts'
import { until } from './fixtures/until.ts'

const megabytes = (count: number) => count * 1024 * 1024
const hash = (data: Buffer | string) => createHash('sha256').update(data).digest('hex')

async function tunnelTo(serve: (socket: Socket) => void, idleMs?: number) {
  const server = await openUpstream(serve)
  const target = `allowed.localhost:${server.port}`
  const open = await openProxy({ allow: [target], ...(idleMs && { limits: { idleMs } }) })
  return { ...open, server, target, ...(await openTunnel(open.port, target)) }
}

describe('a tunnel', () => {
  it('records a tunnel before dialing, and its end with exact byte counts', async () => {
    const [up, down] = [randomBytes(megabytes(5)), randomBytes(megabytes(5) + 1)]
    const received = createHash('sha256')
    const { socket, events, status } = await tunnelTo((server) => {
      server.on('data', (chunk) => received.update(chunk))
      server.on('end', () => server.end(down))
    })
    expect(status).toBe(200)
    expect(events).toHaveLength(1)
    socket.end(up)
    const heard = await hear(socket)
    expect(hash(Buffer.from(heard, 'latin1'))).toBe(hash(down))
    await until(() => events.length === 2)
    expect(received.digest('hex')).toBe(hash(up))
    const [opened, closed] = events
    expect(opened).toMatchObject({
      type: 'network.allowed',
      data: { phase: 'opened', host: 'allowed.localhost', address: '127.0.0.1', process: 'proc_test' },
    })
    expect(closed).toMatchObject({
      type: 'network.allowed',
      data: { phase: 'closed', bytesIn: down.length, bytesOut: up.length, process: 'proc_test' },
    })
    expect(closed?.data.connection).toBe(opened?.data.connection)
    for (const event of events) expect(() => checkEventInput(event)).not.toThrow()
    expect(closed?.data.durationMs).toBeTypeOf('number')
  })

  it('forwards bytes that were sent together with CONNECT', async () => {
    const server = await openUpstream((socket) => socket.pipe(socket))
    const target = `allowed.localhost:${server.port}`
    const { port, events } = await openProxy({ allow: [target] })
    const socket = await dialPlain(port)
    socket.end(`CONNECT ${target} HTTP/1.1\r\n\r\nearly`)
    expect(await hear(socket)).toBe('HTTP/1.1 200 Connection Established\r\n\r\nearly')
    await until(() => endings(events).length === 1)
    expect(endings(events)).toMatchObject([{ bytesIn: 5, bytesOut: 5 }])
  })

  it('applies backpressure to a fast server with a slow client', async () => {
    let written = 0
    const chunk = Buffer.alloc(64 * 1024)
    const { socket, events, server } = await tunnelTo((upstream) => {
      const more = () => {
        while (written < megabytes(200) && upstream.writable) {
          written += chunk.length
          if (!upstream.write(chunk)) return void upstream.once('drain', more)
        }
      }
      more()
    })
    socket.pause()
    let before = -1
    // Wait until all buffers on the path are full.
    while (before !== written) {
      before = written
      await sleep(200)
    }
    expect(written).toBeLessThan(megabytes(50))
    socket.destroy()
    await until(() => endings(events).length === 1)
    expect(endings(events)[0]?.bytesIn).toBeLessThan(megabytes(50))
    await until(() => server.sockets[0]?.destroyed === true)
  })

  it('applies backpressure to a fast client with a slow server', async () => {
    const { socket, server } = await tunnelTo((upstream) => void upstream.pause())
    const chunk = Buffer.alloc(64 * 1024)
    const send = () => {
      while (socket.bytesWritten < megabytes(200) && socket.write(chunk)) {}
    }
    socket.on('drain', send)
    send()
    let before = -1
    while (before !== socket.bytesWritten) {
      before = socket.bytesWritten
      await sleep(200)
    }
    expect(socket.bytesWritten).toBeLessThan(megabytes(50))
    server.sockets[0]?.resume()
  })

  it('supports half-close by the client', async () => {
    const { socket } = await tunnelTo((upstream) => {
      upstream.on('data', () => undefined)
      upstream.on('end', () => upstream.end('after your end'))
    })
    socket.end('before my end')
    expect(await hear(socket)).toBe('after your end')
  })

  it('supports half-close by the server', async () => {
    const heard: Buffer[] = []
    const { socket, server, events } = await tunnelTo((upstream) => {
      upstream.on('data', (chunk) => heard.push(chunk))
      upstream.end('my end')
    })
    expect(await hear(socket)).toBe('my end')
    socket.end('after your end')
    await until(() => server.sockets[0]?.readableEnded === true)
    expect(Buffer.concat(heard).toString()).toBe('after your end')
    await until(() => endings(events).length === 1)
    expect(endings(events)).toMatchObject([{ bytesIn: 6, bytesOut: 14 }])
  })

  it('delivers everything to a slow reader after the server has closed', async () => {
    const { socket } = await tunnelTo((upstream) => {
      upstream.resume().on('end', () => upstream.end(Buffer.alloc(megabytes(20))))
    })
    socket.end('all of it')
    let received = 0
    for await (const chunk of socket) {
      received += chunk.length
      if (received > megabytes(18)) await sleep(1)
    }
    expect(received).toBe(megabytes(20))
  })

  it('closes the upstream and records it when the client disconnects midway', async () => {
    const { socket, server, events } = await tunnelTo((upstream) => void upstream.write('half of'))
    socket.resetAndDestroy()
    await until(() => endings(events).length === 1)
    await until(() => server.sockets[0]?.readableEnded === true || server.sockets[0]?.destroyed === true)
    expect(endings(events)).toMatchObject([{ bytesOut: 0 }])
  })

  it('closes the client and records it when the server aborts', async () => {
    const { socket, events } = await tunnelTo((upstream) => {
      upstream.once('data', () => upstream.resetAndDestroy())
    })
    socket.write('x')
    socket.resume()
    await closed(socket)
    await until(() => endings(events).length === 1)
  })

  it('has no idle timeout by default, and accepts one', async () => {
    const { socket, events } = await tunnelTo((upstream) => void upstream.resume(), 30)
    socket.resume()
    await closed(socket)
    await until(() => endings(events).length === 1)
  })

  it('accepts CONNECT after a plain request on the same connection', async () => {
    const server = await openUpstream((upstream) => {
      upstream.once('data', (asked) => {
        if (String(asked).startsWith('GET')) upstream.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
        else upstream.end(asked)
      })
    })
    const target = `allowed.localhost:${server.port}`
    const { port, events } = await openProxy({ allow: [target] })
    const socket = await dialPlain(port)
    socket.write(`GET http://${target}/ HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
    expect(statusOf(await readHead(socket))).toBe(200)
    socket.write(`CONNECT ${target} HTTP/1.1\r\n\r\n`)
    expect(statusOf(await readHead(socket))).toBe(200)
    socket.end('tunneled')
    expect(await hear(socket)).toBe('tunneled')
    await until(() => endings(events).length === 2)
  })
})

describe('close()', () => {
  it('closes all connections, waits until their ends are recorded, and accepts no more', async () => {
    const { proxy, port, target, socket, server, events } = await tunnelTo(
      (upstream) => void upstream.pause(),
    )
    const silent = await dialPlain(port)
    const halfClosed = (await openTunnel(port, target)).socket
    halfClosed.end(Buffer.alloc(megabytes(20)))
    await until(() => server.sockets.length === 2)
    await proxy.close()
    expect(endings(events)).toHaveLength(2)
    for (const client of [socket, silent, halfClosed]) {
      client.resume()
      await closed(client)
    }
    const late = await dialPlain(port)
    late.write(`CONNECT ${target} HTTP/1.1\r\n\r\n`)
    expect(await hear(late)).toBe('')
    expect(events).toHaveLength(4)
    await proxy.close()
  })

  it('an aborted signal closes the proxy, also during a lookup', async () => {
    const ending = new AbortController()
    const server = await openUpstream((upstream) => void upstream.pause())
    const target = `allowed.localhost:${server.port}`
    const { port, proxy, events, lookups } = await openProxy({
      allow: [target],
      signal: ending.signal,
      lookup: () => new Promise(() => undefined),
      limits: { dialMs: 1_000_000 },
    })
    const opening = openTunnel(port, target)
    const plain = say(port, `GET http://${target}/ HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
    await until(() => lookups.length === 2)
    ending.abort()
    expect((await opening).status).toBe(0)
    expect(await plain).toBe('')
    await proxy.close()
    expect(server.sockets).toHaveLength(0)
    const reason = 'the name could not be resolved: the client went away'
    expect(ofType(events, 'network.refused')).toMatchObject([{ reason }, { reason }])
  })

  it('a signal that is already aborted closes the proxy at once', async () => {
    const { port } = await openProxy({ signal: AbortSignal.abort() })
    expect(await hear(await dialPlain(port))).toBe('')
  })
})
