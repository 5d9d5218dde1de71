import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { proxyEnvironment } from '../src/environment.ts'
import { dialPlain, readHead, say, statusesIn, statusOf } from './fixtures/client.ts'
import { endings, listen, ofType, openProxy, openUpstream } from './fixtures/proxy.ts'
import { until } from './fixtures/until.ts'

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** An HTTP server that records its requests, and a proxy that may connect to it. */
async function site(body = 'hello') {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, url, headers } = request
    seen.push({ method, url, headers, body: Buffer.concat(chunks).toString('latin1') })
    response.writeHead(200, { 'X-Site': 'yes', Connection: 'X-Hop', 'X-Hop': '1' })
    response.end(body)
  })
  const port = await listen(server)
  const target = `allowed.localhost:${port}`
  return { seen, target, ...(await openProxy({ allow: [target] })) }
}

const get = (target: string, path = '/', more = '') =>
  `GET http://${target}${path} HTTP/1.1\r\nHost: ${target}\r\n${more}\r\n`
const last = 'Connection: close\r\n'

describe('a plain request', () => {
  it('reaches the targets of the start and all that were allowed later', async () => {
    const { proxy, target, port } = await site()
    const [second, third] = [await site(), await site()]
    const status = async (to: string) => statusOf(await say(port, get(to, '/', last)))
    expect([await status(target), await status(second.target)]).toEqual([200, 403])
    proxy.allow([second.target])
    proxy.allow([third.target])
    for (const allowed of [target, second.target, third.target]) expect(await status(allowed)).toBe(200)
    expect(() => proxy.allow([`other.localhost:${port}`, 'bad'])).toThrow(/allow\[\d+\]/)
    expect(await status(`other.localhost:${port}`)).toBe(403)
  })

  it('forwards a request with its body and without hop-by-hop headers', async () => {
    const { seen, target, port, events } = await site()
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { Host: target, 'Proxy-Authorization': 'Basic c2VjcmV0', 'X-Mine': ['a', 'b'] }
      const request = httpRequest({ port, method: 'POST', path: `http://${target}/x?y=1`, headers })
      request.on('response', resolve).on('error', reject)
      request.end('some body')
    })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['x-site']).toBe('yes')
    expect(answer.headers['x-hop']).toBeUndefined()
    expect(await answer.toArray().then((chunks) => Buffer.concat(chunks).toString())).toBe('hello')
    expect(seen).toMatchObject([{ method: 'POST', url: '/x?y=1', body: 'some body' }])
    expect(seen[0]?.headers).toMatchObject({ host: target, 'x-mine': 'a, b', connection: 'close' })
    expect(seen[0]?.headers['proxy-authorization']).toBeUndefined()
    await until(() => endings(events).length === 1)
  })

  it('records a request with its exact byte counts', async () => {
    const heard: Buffer[] = []
    const reply = `HTTP/1.1 200 OK\r\nContent-Length: 5242880\r\n\r\n${'x'.repeat(5_242_880)}`
    const server = await openUpstream((socket) => {
      socket.on('data', (chunk) => {
        heard.push(chunk)
        if (Buffer.concat(heard).includes('\r\n\r\n')) socket.end(reply)
      })
    })
    const target = `allowed.localhost:${server.port}`
    const { port, events } = await openProxy({ allow: [target] })
    expect((await say(port, get(target, '/', last))).endsWith('x'.repeat(5_242_880))).toBe(true)
    await until(() => endings(events).length === 1)
    expect(endings(events)[0]).toMatchObject({
      bytesIn: reply.length,
      bytesOut: Buffer.concat(heard).length,
    })
  })

  it('checks each request on a keep-alive connection: the second is refused, the third is forwarded', async () => {
    const { seen, target, port, events } = await site()
    const socket = await dialPlain(port)
    const statuses: number[] = []
    for (const asked of [
      get(target, '/1'),
      get('evil.example'),
      get('localhost:1'),
      get(target, '/2', last),
    ]) {
      socket.write(asked)
      statuses.push(statusOf(await readHead(socket)))
      // The body of the answer, which is short.
      await until(() => socket.read() !== null || socket.readableEnded)
    }
    expect(statuses).toEqual([200, 403, 403, 200])
    expect(seen.map(({ url }) => url)).toEqual(['/1', '/2'])
    expect(ofType(events, 'network.refused')).toMatchObject([{ host: 'evil.example', port: 80 }, { port: 1 }])
  })

  it('checks each pipelined request and responds in order', async () => {
    const { seen, target, port } = await site()
    const answers = await say(port, get(target, '/1') + get('evil.example') + get(target, '/2', last))
    expect(statusesIn(answers)).toEqual([200, 403, 200])
    expect(seen.map(({ url }) => url).toSorted()).toEqual(['/1', '/2'])
  })

  it('never parses the body of a refused request as a request', async () => {
    const { seen, target, port, events } = await site()
    const hidden = get(target, '/hidden')
    const post = `POST http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\nContent-Length: ${hidden.length}\r\n\r\n`
    expect(statusesIn(await say(port, post + hidden + get(target, '/open', last)))).toEqual([403, 200])
    expect(seen.map(({ url }) => url)).toEqual(['/open'])
    await until(() => events.length === 3)
  })

  it.each([
    ['Content-Length and Transfer-Encoding', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n'],
    ['Transfer-Encoding and Content-Length', 'Transfer-Encoding: chunked\r\nContent-Length: 4\r\n'],
    ['two Content-Lengths', 'Content-Length: 4\r\nContent-Length: 5\r\n'],
    ['a signed Content-Length', 'Content-Length: +4\r\n'],
    ['a list as Content-Length', 'Content-Length: 4, 4\r\n'],
    ['a disguised Transfer-Encoding', 'Transfer-Encoding: xchunked\r\n'],
    ['a doubled Transfer-Encoding', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n'],
    ['a space before the colon', 'Transfer-Encoding : chunked\r\nContent-Length: 4\r\n'],
    ['a tab before the colon', 'Content-Length\t: 4\r\n'],
    ['a folded header', 'X: a\r\n b: c\r\nTransfer-Encoding:\r\n chunked\r\nContent-Length: 4\r\n'],
    ['a bare line feed', 'X: a\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n'],
    ['a bare carriage return', 'X: a\rTransfer-Encoding: chunked\r\n'],
    ['a NUL in a header', 'X: a\0b\r\n'],
    ['a second Host', 'Host: evil.example\r\n'],
    ['another protocol', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'],
  ])('refuses and records a request with %s', async (_, headers) => {
    const { seen, target, port, events } = await site()
    const hidden = get(target, '/hidden')
    const answers = await say(
      port,
      `POST http://${target}/ HTTP/1.1\r\nHost: ${target}\r\n${headers}\r\n0\r\n\r\n${hidden}`,
    )
    expect(statusesIn(answers)).not.toContain(200)
    expect(statusesIn(answers).every((status) => status === 400)).toBe(true)
    expect(seen.filter(({ method }) => method === 'POST')).toEqual([])
    await until(() => ofType(events, 'network.refused').length >= 1)
    expect(ofType(events, 'network.refused')[0]).toMatchObject({ host: target, port: 0 })
  })

  it('keeps framing headers that Connection names', async () => {
    const { seen, target, port } = await site()
    const hidden = get(target, '/hidden')
    const head = `POST http://${target}/ HTTP/1.1\r\nHost: ${target}\r\nConnection: close, Content-Length, Host\r\n`
    await say(port, `${head}Content-Length: ${hidden.length}\r\n\r\n${hidden}`)
    expect(seen).toMatchObject([{ method: 'POST', body: hidden }])
  })

  it('forwards a chunked body completely, also with GET', async () => {
    const { seen, target, port } = await site()
    const chunks = 'Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
    const answer = await say(port, `GET http://${target}/ HTTP/1.1\r\nHost: ${target}\r\n${chunks}`)
    expect(statusOf(answer)).toBe(200)
    expect(seen).toMatchObject([{ method: 'GET', body: 'hello' }])
  })

  it('rejects CRLF injection in the path', async () => {
    const { seen, target, port } = await site()
    await say(port, get(target, '/%0d%0aX-Injected:%20yes', last))
    expect(seen).toMatchObject([{ url: '/%0d%0aX-Injected:%20yes' }])
    expect(seen[0]?.headers['x-injected']).toBeUndefined()
    expect(statusesIn(await say(port, get(target, '/\r\nX-Injected: yes\r\n\r\n')))).not.toContain(200)
    expect(statusOf(await say(port, `CONNECT ${target}\r\nX: y HTTP/1.1\r\n\r\n`))).toBe(400)
    expect(seen).toHaveLength(1)
  })

  it.each([
    ['a Host that disagrees', 'GET http://TARGET/ HTTP/1.1\r\nHost: evil.example\r\n\r\n'],
    ['no Host', 'GET http://TARGET/ HTTP/1.1\r\n\r\n'],
    ['only a path', 'GET / HTTP/1.1\r\nHost: TARGET\r\n\r\n'],
    ['https', 'GET https://TARGET/ HTTP/1.1\r\nHost: TARGET\r\n\r\n'],
    ['HTTP/0.9', 'GET http://TARGET/\r\n\r\n'],
    ['CONNECT of HTTP/0.9', 'CONNECT TARGET\r\nX: y HTTP/1.1\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['SOCKS', '\x05\x01\x00'],
  ])('responds 400 to a request with %s and records it once', async (_, asked) => {
    const { seen, target, port, events } = await site()
    expect(statusesIn(await say(port, asked.replaceAll('TARGET', target)))).toEqual([400])
    expect(events).toMatchObject([{ type: 'network.refused', data: { port: 0 } }])
    expect(seen).toEqual([])
  })

  it('responds 431 to endless headers', async () => {
    const { target, port, events } = await site()
    const answer = await say(port, get(target, '/', `X: ${'x'.repeat(100_000)}\r\n`))
    expect([431, 0]).toContain(statusOf(answer))
    expect(events).toHaveLength(1)
  })

  it('a response without a body leaves the connection usable', async () => {
    const { seen, target, port } = await site()
    const head = `HEAD http://${target}/ HTTP/1.1\r\nHost: ${target}\r\n\r\n`
    const answers = await say(port, head + head + get(target, '/', last))
    expect(statusesIn(answers)).toEqual([200, 200, 200])
    expect(answers.match(/hello/g)).toHaveLength(1)
    expect(seen).toHaveLength(3)
  })

  it('one connection carries many requests', async () => {
    const { target, port, events } = await site()
    const socket = await dialPlain(port)
    for (let round = 0; round < 50; round += 1) {
      socket.write(`HEAD http://${target}/ HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
      expect(statusOf(await readHead(socket))).toBe(200)
    }
    socket.end()
    await until(() => endings(events).length === 50)
  })

  it('sends 100 Continue only to allowed requests', async () => {
    const { seen, target, port } = await site()
    const expecting = 'Content-Length: 5\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n'
    const socket = await dialPlain(port)
    socket.write(`POST http://${target}/ HTTP/1.1\r\nHost: ${target}\r\n${expecting}`)
    expect(statusOf(await readHead(socket))).toBe(100)
    socket.write('hello')
    expect(statusOf(await readHead(socket))).toBe(200)
    expect(seen).toMatchObject([{ body: 'hello' }])
    const refused = await dialPlain(port)
    refused.write(`POST http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n${expecting}`)
    expect(statusOf(await readHead(refused))).toBe(403)
  })

  it.each([
    ['nothing', ''],
    ['nonsense', 'nonsense\r\n\r\n'],
    [
      'a protocol nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    ],
    ['an unknown encoding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['an impossible status', 'HTTP/1.1 000 Zero\r\nContent-Length: 0\r\n\r\n'],
  ])('responds 502 when the target sends %s', async (_, reply) => {
    const server = await openUpstream((socket) => socket.once('data', () => socket.end(reply)))
    const target = `allowed.localhost:${server.port}`
    const { port, events } = await openProxy({ allow: [target] })
    expect(statusOf(await say(port, get(target, '/', last)))).toBe(502)
    await until(() => endings(events).length === 1)
  })

  it('aborts the response when the target aborts it', async () => {
    const server = await openUpstream((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'))
    })
    const target = `allowed.localhost:${server.port}`
    const { port, events } = await openProxy({ allow: [target] })
    const answer = await say(port, get(target))
    expect(answer).toContain('Content-Length: 100'.toLowerCase())
    expect(answer.endsWith('half')).toBe(true)
    await until(() => endings(events).length === 1)
  })

  it('an early response leaves the connection usable', async () => {
    const server = await openUpstream((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n'))
    })
    const target = `allowed.localhost:${server.port}`
    const { port } = await openProxy({ allow: [target] })
    const socket = await dialPlain(port)
    socket.write(`POST http://${target}/ HTTP/1.1\r\nHost: ${target}\r\nContent-Length: 1000000\r\n\r\n`)
    socket.write('x'.repeat(500_000))
    expect(statusOf(await readHead(socket))).toBe(413)
    socket.write('x'.repeat(500_000) + get(target))
    expect(statusOf(await readHead(socket))).toBe(413)
  })

  it('a client that disconnects before the response closes the upstream connection, which is recorded', async () => {
    const server = await openUpstream((socket) => socket.resume())
    const target = `allowed.localhost:${server.port}`
    const { port, events } = await openProxy({ allow: [target] })
    const socket = await dialPlain(port)
    socket.write(get(target))
    await until(() => (server.sockets[0]?.bytesRead ?? 0) > 0)
    socket.destroy()
    await until(() => endings(events).length === 1 && server.sockets[0]?.readableEnded === true)
  })

  it('a client that disconnects midway closes the upstream connection, which is recorded', async () => {
    const server = await openUpstream((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'))
    })
    const target = `allowed.localhost:${server.port}`
    const { port, events } = await openProxy({ allow: [target] })
    const socket = await dialPlain(port)
    socket.write(get(target) + get(target))
    await readHead(socket)
    await until(() => server.sockets.length === 2)
    socket.destroy()
    await until(() => endings(events).length === 2)
  })
})

describe.skipIf(!existsSync('/usr/bin/curl'))('curl', () => {
  const run = promisify(execFile)
  const curl = async (port: number, ...rest: string[]) => {
    // The test's server is on the loopback interface, which the sandbox's NO_PROXY exempts.
    const env = { ...proxyEnvironment(port), NO_PROXY: '', no_proxy: '' }
    const { stdout } = await run('/usr/bin/curl', ['-sS', '-w', '|%{http_code}|%{http_connect}', ...rest], {
      env,
    })
    return stdout
  }

  it('curl uses the proxy from the environment, plain and through a tunnel', async () => {
    const { target, port, events } = await site()
    expect(await curl(port, `http://${target}/x`)).toBe('hello|200|000')
    expect(await curl(port, '-p', `http://${target}/x`)).toBe('hello|200|200')
    expect(await curl(port, '--data-binary', 'x'.repeat(100_000), `http://${target}/x`)).toBe('hello|200|000')
    await until(() => endings(events).length === 3)
  })

  it('fetch of Node uses the proxy from the environment', async () => {
    const { target, port, events } = await site()
    const env = { ...proxyEnvironment(port), NO_PROXY: '', no_proxy: '' }
    const script = `console.log(await (await fetch('http://${target}/x')).text())`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { env })
    expect(stdout).toBe('hello\n')
    await until(() => endings(events).length === 1)
  })

  it('curl shows why its request was refused', async () => {
    const { port } = await site()
    const told = await curl(port, 'http://evil.example/')
    expect(told).toContain('"evil.example:80": refused: it is not on the allow-list')
    expect(told).toContain('add "evil.example:80" to the allow-list')
    expect(told).toContain('|403|')
    await expect(curl(port, 'https://evil.example/')).rejects.toThrow(/403/)
  })
})
