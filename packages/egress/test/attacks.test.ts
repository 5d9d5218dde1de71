import { describe, expect, it } from 'vitest'
import { boundedHost } from '../src/event.ts'
import { openTunnel, say, statusOf } from './fixtures/client.ts'
import { endings, ofType, openProxy, openUpstream } from './fixtures/proxy.ts'
import { until } from './fixtures/until.ts'

const connectTo = (target: string) => `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`
const getFrom = (authority: string) =>
  `GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`

/** A proxy that allows one server by two names, and the number of connections that the server saw. */
async function guarded() {
  const server = await openUpstream((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
  const name = `allowed.localhost:${server.port}`
  return { server, name, ...(await openProxy({ allow: [name, '10.255.255.5:8080'] })) }
}

describe('attack 11: two parsers that see two hosts', () => {
  it.each([
    ['a NUL byte', (port: number) => `evil.example\0.allowed.localhost:${port}`],
    ['a NUL byte behind', (port: number) => `allowed.localhost\0.evil.example:${port}`],
    ['user@host', (port: number) => `allowed.localhost@127.0.0.1:${port}`],
    ['user:port@host', (port: number) => `allowed.localhost:${port}@127.0.0.1:${port}`],
    ['a backslash', (port: number) => `127.0.0.1\\.allowed.localhost:${port}`],
    ['a fragment', (port: number) => `127.0.0.1#.allowed.localhost:${port}`],
    ['percent-encoding', (port: number) => `allowed%2elocalhost:${port}`],
    ['a space', (port: number) => `127.0.0.1 allowed.localhost:${port}`],
    ['a raw look-alike letter', (port: number) => `аllowed.localhost:${port}`],
    ['two trailing dots', (port: number) => `allowed.localhost..:${port}`],
    ['a zone', (port: number) => `[::1%25lo]:${port}`],
    ['no port', () => 'allowed.localhost'],
    ['port 0', () => 'allowed.localhost:0'],
    ['a port that wraps around', (port: number) => `allowed.localhost:${port + 65_536}`],
  ])('responds 400 to %s, records it and dials nothing', async (_, targetFor) => {
    const { server, port, events, lookups } = await guarded()
    const target = targetFor(server.port)
    const answer = await say(port, Buffer.from(connectTo(target)).toString('latin1'))
    expect(statusOf(answer)).toBe(400)
    expect(events).toMatchObject([
      { type: 'network.refused', data: { host: boundedHost(target), port: 0, process: 'proc_test' } },
    ])
    expect([server.sockets.length, lookups.length]).toEqual([0, 0])
  })

  it.each([
    ['loopback', '127.0.0.1', '127.0.0.1'],
    ['loopback in decimal', '2130706433', '127.0.0.1'],
    ['loopback in hexadecimal', '0x7f000001', '127.0.0.1'],
    ['loopback in octal', '0177.0.0.1', '127.0.0.1'],
    ['loopback cut short', '127.1', '127.0.0.1'],
    ['unspecified', '0', '0.0.0.0'],
    ['IPv6 loopback', '[0:0::1]', '::1'],
    ['mapped loopback', '[::ffff:127.0.0.1]', '127.0.0.1'],
    ['mapped loopback in hexadecimal', '[::ffff:7f00:1]', '127.0.0.1'],
    ['a look-alike in punycode', 'xn--llowed-2nf.localhost', 'xn--llowed-2nf.localhost'],
    ['a name that ends like a listed one', 'evilallowed.localhost', 'evilallowed.localhost'],
    ['a name below a listed one', 'x.allowed.localhost', 'x.allowed.localhost'],
    ['a name above a listed one', 'localhost', 'localhost'],
    ['a name that begins like a listed one', 'allowed.localhost.evil', 'allowed.localhost.evil'],
  ])(
    '%s is not listed: 403 for tunnels and plain requests, recorded canonically',
    async (_, host, canonical) => {
      const { server, port, events, lookups } = await guarded()
      const target = `${host}:${server.port}`
      const [tunnel, plain] = [await say(port, connectTo(target)), await say(port, getFrom(target))]
      expect([tunnel, plain].map(statusOf)).toEqual([403, 403])
      expect(tunnel).toContain('it is not on the allow-list')
      expect(tunnel).toContain(`:${server.port}" to the allow-list of this sandbox`)
      const refused = { host: canonical, port: server.port, reason: 'it is not on the allow-list' }
      expect(ofType(events, 'network.refused')).toMatchObject([refused, refused])
      expect([server.sockets.length, lookups.length]).toEqual([0, 0])
    },
  )

  it('dials a listed host in another spelling', async () => {
    const { server, port, events, lookups } = await guarded()
    for (const host of ['ALLOWED.localhost', 'allowed.localhost.', 'Allowed.LocalHost.'])
      expect(statusOf(await say(port, getFrom(`${host}:${server.port}`)))).toBe(200)
    expect(lookups).toEqual(['allowed.localhost', 'allowed.localhost', 'allowed.localhost'])
    await until(() => endings(events).length === 3)
    expect(new Set(events.map(({ data }) => data.host))).toEqual(new Set(['allowed.localhost']))
  })
})

describe('attack 12: a listed name that leads elsewhere', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['64:ff9b::7f00:1', 'loopback'],
    ['169.254.169.254', 'metadata'],
    ['::ffff:169.254.169.254', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['169.254.1.1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['0.0.0.0', 'unspecified'],
    ['255.255.255.255', 'broadcast'],
    ['224.0.0.251', 'multicast'],
    ['not an address', 'unreadable'],
  ])('responds 403 to a name that resolves to %s, also after an allowed address', async (address, kind) => {
    const server = await openUpstream((socket) => socket.end())
    const target = `allowed.example:${server.port}`
    const { port, events } = await openProxy({
      allow: [target],
      lookup: async () => [{ address: '10.255.255.5' }, { address }],
    })
    const answer = await say(port, connectTo(target))
    expect(statusOf(answer)).toBe(403)
    expect(answer).toContain(`the name resolves to the ${kind} address`)
    expect(ofType(events, 'network.refused')).toMatchObject([{ host: 'allowed.example', port: server.port }])
    expect(events).toHaveLength(1)
    expect(server.sockets).toHaveLength(0)
  })

  it('allows a name that resolves to a listed loopback address', async () => {
    const server = await openUpstream((socket) => socket.end('hi'))
    const allow = [`allowed.example:${server.port}`, `127.0.0.1:${server.port}`]
    const { port, events } = await openProxy({ allow })
    expect((await openTunnel(port, `allowed.example:${server.port}`)).status).toBe(200)
    expect(events[0]).toMatchObject({
      type: 'network.allowed',
      data: { phase: 'opened', address: '127.0.0.1' },
    })
  })

  it('responds 403 at any port that is not listed', async () => {
    const { server, port, events } = await guarded()
    for (const other of [1, 22, 80, 443, server.port + 1])
      expect(statusOf(await say(port, connectTo(`allowed.localhost:${other}`)))).toBe(403)
    expect(events).toHaveLength(5)
  })

  it('looks a name up once and dials the checked address (rebinding)', async () => {
    const server = await openUpstream((socket) => socket.end('hi'))
    const answers = [[{ address: '127.0.0.1' }], [{ address: '169.254.169.254' }]]
    const { port, lookups, events } = await openProxy({
      allow: [`allowed.localhost:${server.port}`],
      lookup: async () => answers.shift() ?? [],
    })
    const { socket, status } = await openTunnel(port, `allowed.localhost:${server.port}`)
    expect([status, lookups.length]).toEqual([200, 1])
    socket.end()
    await until(() => endings(events).length === 1)
    expect(endings(events)).toMatchObject([{ address: '127.0.0.1' }])
    expect((await openTunnel(port, `allowed.localhost:${server.port}`)).status).toBe(403)
  })

  it('dials the checked addresses in order', async () => {
    const server = await openUpstream((socket) => socket.end('hi'))
    const { port, events } = await openProxy({
      allow: [`allowed.localhost:${server.port}`],
      lookup: async () => [{ address: '::1' }, { address: '127.0.0.1' }],
    })
    const { socket, status } = await openTunnel(port, `allowed.localhost:${server.port}`)
    expect(status).toBe(200)
    socket.end()
    await until(() => endings(events).length === 1)
    expect(events.map(({ data }) => data.address)).toEqual(['::1', '127.0.0.1'])
  })

  it('looks up only listed names, since a DNS query can leak data', async () => {
    const { port, lookups } = await guarded()
    await say(port, connectTo('c2VjcmV0.evil.example:443'))
    expect(lookups).toEqual([])
  })
})

describe('a target that cannot be reached', () => {
  it('responds 502 to an unknown name and records it', async () => {
    const lookup = () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }))
    const { port, events } = await openProxy({ allow: ['gone.example:443'], lookup })
    const answer = await say(port, connectTo('gone.example:443'))
    expect(statusOf(answer)).toBe(502)
    expect(answer).toContain('could not be resolved: ENOTFOUND')
    expect(events).toMatchObject([{ type: 'network.refused', data: { host: 'gone.example', port: 443 } }])
  })

  it.each(['an empty answer', 'nonsense', 'an answer that never comes'])(
    'responds 502 after a DNS lookup with %s',
    async (what) => {
      const answers: Record<string, () => Promise<{ address: string }[]>> = {
        'an empty answer': async () => JSON.parse('[]'),
        nonsense: async () => JSON.parse('null'),
        'an answer that never comes': () => new Promise(() => undefined),
      }
      const { port, events } = await openProxy({
        allow: ['gone.example:443'],
        lookup: (host) => answers[what]?.() ?? Promise.reject(host),
        limits: { dialMs: 50 },
      })
      expect(statusOf(await say(port, connectTo('gone.example:443')))).toBe(502)
      expect(ofType(events, 'network.refused')).toHaveLength(1)
    },
  )

  it('responds 502 when the target refuses, and records opened, failed and closed', async () => {
    const { port, events } = await openProxy({ allow: ['127.0.0.1:1'] })
    const target = { host: '127.0.0.1', port: 1 }
    const answer = await say(port, connectTo('127.0.0.1:1'))
    expect(statusOf(answer)).toBe(502)
    expect(answer).toContain('ECONNREFUSED')
    const [opened, failed, closed] = events
    expect(opened).toMatchObject({ type: 'network.allowed', data: { phase: 'opened' } })
    expect(failed).toMatchObject({
      type: 'network.failed',
      data: { ...target, error: 'ECONNREFUSED', connection: opened?.data.connection, process: 'proc_test' },
    })
    expect(closed).toMatchObject({ data: { phase: 'closed', bytesIn: 0, bytesOut: 0 } })
    expect(closed?.data.reason).toContain('ECONNREFUSED')
    expect(closed?.data.connection).toBe(opened?.data.connection)
  })
})

describe('the record of a refused target', () => {
  it('records a refused target truncated and without its password', async () => {
    const { port, events } = await openProxy({ allow: [] })
    await say(port, connectTo(`me:hunter2@${'a'.repeat(4_000)}:443`))
    const [{ data } = { data: undefined }] = events
    expect(data?.host).toHaveLength(255)
    expect(data?.host).toMatch(/^me:…@aaa/)
    expect(data?.connection).toMatch(/^conn_[0-9a-f]{32}$/)
  })
})
