import { describe, expect, it } from 'vitest'
import type { EgressEvent } from '../src/event.ts'
import { dialPlain, hear, openTunnel, say, statusOf } from './fixtures/client.ts'
import { endings, ofType, openProxy, openUpstream } from './fixtures/proxy.ts'
import { until } from './fixtures/until.ts'

describe('a journal that cannot record', () => {
  it.each([
    ['rejects', () => Promise.reject(new Error('disk full'))],
    [
      'throws',
      () => {
        throw new Error('disk full')
      },
    ],
  ])('dials nothing and responds 503 if the journal %s', async (_, record) => {
    const server = await openUpstream((socket) => socket.end())
    const target = `allowed.localhost:${server.port}`
    const { port } = await openProxy({ allow: [target], record })
    const tunnel = await openTunnel(port, target)
    expect(tunnel.status).toBe(503)
    const plain = await say(port, `GET http://${target}/ HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
    expect(statusOf(plain)).toBe(503)
    expect(plain).toContain('could not be recorded')
    expect((await openTunnel(port, 'other.example:443')).status).toBe(403)
    expect(server.sockets).toHaveLength(0)
  })

  it('dials only after a slow journal has recorded the connection', async () => {
    const server = await openUpstream((socket) => socket.end())
    const target = `allowed.localhost:${server.port}`
    const written = Promise.withResolvers<void>()
    const events: EgressEvent[] = []
    const { port } = await openProxy({
      allow: [target],
      record: (event) => {
        events.push(event)
        return written.promise
      },
    })
    const opening = openTunnel(port, target)
    await until(() => events.length === 1)
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
    expect(server.sockets).toHaveLength(0)
    written.resolve()
    expect((await opening).status).toBe(200)
  })

  it('ignores a failure to record the end of a connection', async () => {
    const server = await openUpstream((socket) => socket.end('hi'))
    const target = `allowed.localhost:${server.port}`
    const { port, proxy } = await openProxy({
      allow: [target],
      record: async ({ data }) => {
        if ('phase' in data && data.phase === 'closed') throw new Error('disk full')
      },
    })
    const { socket } = await openTunnel(port, target)
    socket.end()
    expect(await hear(socket)).toBe('hi')
    await proxy.close()
  })
})

describe('connections at once', () => {
  it('allows 256 of 300 connections, responds 503 to the rest, and accepts more when some close', async () => {
    const server = await openUpstream((socket) => socket.resume().on('end', () => socket.end()))
    const target = `allowed.localhost:${server.port}`
    const { port, events } = await openProxy({ allow: [target] })
    const tunnels = await Promise.all(Array.from({ length: 300 }, () => openTunnel(port, target)))
    const statuses = tunnels.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(256)
    expect(statuses.filter((status) => status === 503)).toHaveLength(44)
    const refused = ofType(events, 'network.refused')
    expect(refused).toHaveLength(44)
    expect(refused[0]).toMatchObject({ port: server.port, reason: 'more than 256 connections at once' })
    expect(server.sockets).toHaveLength(256)

    for (const { socket } of tunnels) socket.destroy()
    await until(() => endings(events).length === 256)
    expect((await openTunnel(port, target)).status).toBe(200)
  })

  it('closes connections without a response beyond twice the limit', async () => {
    const { port, events } = await openProxy({ allow: [], limits: { connections: 2 } })
    const silent = await Promise.all(Array.from({ length: 4 }, () => dialPlain(port)))
    expect(await hear(await dialPlain(port))).toBe('')
    expect(events).toMatchObject([{ data: { host: '', port: 0, reason: 'more than 4 connections at once' } }])
    expect(silent.every(({ destroyed }) => !destroyed)).toBe(true)
  })

  it('limits the pipelined requests of a connection', async () => {
    const { port, events } = await openProxy({
      allow: ['slow.example:80'],
      lookup: () => new Promise(() => undefined),
      limits: { dialMs: 500 },
    })
    expect(
      await say(port, 'GET http://slow.example/ HTTP/1.1\r\nHost: slow.example\r\n\r\n'.repeat(100)),
    ).toBe('')
    await until(() => events.length === 17)
    expect(ofType(events, 'network.refused').map(({ reason }) => reason)).toContain(
      'too many requests at once',
    )
  })

  it('closes a refused connection after the header timeout', async () => {
    const { port } = await openProxy({ limits: { headerMs: 30 } })
    const { socket, status } = await openTunnel(port, 'evil.example:443')
    expect(status).toBe(403)
    await until(() => socket.destroyed || !socket.write('still here'))
  })

  it('closes connections that send no request or only a part of one', async () => {
    const { port, events } = await openProxy({ limits: { headerMs: 30 } })
    expect(await hear(await dialPlain(port))).toBe('')
    expect(await say(port, 'CONNECT allowed.exam')).toBe('')
    const again = await say(
      port,
      'GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\nGET http://b.exam',
    )
    expect(statusOf(again)).toBe(403)
    expect(events).toHaveLength(1)
  })
})
