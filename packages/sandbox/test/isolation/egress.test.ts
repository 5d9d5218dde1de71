import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Host, openHost, reasonToSkip, type Sandbox } from './fixtures/open-host.ts'

/** A server on this machine that responds with the address it was reached at. */
async function serve(
  address: string,
  port = 0,
): Promise<{ server: Server; port: number; requests: string[] }> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.end(`this is ${address}`)
  })
  await new Promise<void>((resolve) => server.listen(port, address, resolve))
  const bound = server.address()
  return { server, requests, port: typeof bound === 'object' && bound !== null ? bound.port : 0 }
}

/** A command that sends raw bytes to the proxy and prints the response. */
const raw = (line: string) =>
  `printf '%b' '${line}' | timeout 5 perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new("127.0.0.1:3128") or die; print $s join("",<STDIN>); print scalar <$s>' | tr -d "\\r"`

describe.skipIf(reasonToSkip('self'))('a sandbox that may reach one name and port', () => {
  let host: Host
  let sandbox: Sandbox
  let upstream: Awaited<ReturnType<typeof serve>>
  let target: string

  beforeAll(async () => {
    upstream = await serve('127.0.0.1')
    // A name below localhost resolves to the loopback, but is no loopback entry itself, so it goes through the proxy.
    target = `allowed.localhost:${upstream.port}`
    host = openHost()
    sandbox = await host.open({ egress: [target] })
  })
  afterAll(async () => {
    await host.close()
    upstream.server.close()
  })

  const refusals = async () => (await sandbox.events('network.refused')).length

  it('finds the proxy in its environment', async () => {
    const env = await sandbox.output('env')
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'])
      expect(env).toContain(`${name}=http://127.0.0.1:3128`)
  })

  it('reaches the allowed target, and the journal has the start and end of the connection, its bytes and its process', async () => {
    const { stdout, exitCode } = await sandbox.exec(`exec curl -sS --noproxy '' http://${target}/path`)
    expect([exitCode, stdout]).toEqual([0, 'this is 127.0.0.1'])
    const last = async () => (await sandbox.events('network.allowed')).at(-1)?.data.phase
    await expect.poll(last).toBe('closed')
    const events = await sandbox.events('network.allowed')
    const [opened, closed] = events.slice(-2).map(({ data }) => data)
    expect(opened).toMatchObject({ phase: 'opened', host: 'allowed.localhost', port: upstream.port })
    expect(closed).toMatchObject({ phase: 'closed', connection: opened?.connection })
    expect(closed?.bytesIn).toBeGreaterThan(0)
    expect(closed?.bytesOut).toBeGreaterThan(0)
    const started = await sandbox.events('process.started')
    expect(started.map(({ data }) => data.process)).toContain(opened?.process)
  })

  it('reaches the allowed target through a tunnel', async () => {
    expect(await sandbox.output(`curl -sS --noproxy '' -p http://${target}/tunnel`)).toBe('this is 127.0.0.1')
  })

  it.each([
    ['another port', (port: number) => `allowed.localhost:${port + 1}`],
    ['another name', (port: number) => `other.localhost:${port}`],
    ['a name below it', (port: number) => `x.allowed.localhost:${port}`],
    ['a name that ends like it', (port: number) => `evilallowed.localhost:${port}`],
    ['localhost', (port: number) => `localhost:${port}`],
    ['the address behind it', (port: number) => `127.0.0.1:${port}`],
    ['the address in decimal', (port: number) => `2130706433:${port}`],
    ['the address in hexadecimal', (port: number) => `0x7f000001:${port}`],
    ['the address in octal', (port: number) => `0177.0.0.1:${port}`],
    ['the address cut short', (port: number) => `127.1:${port}`],
    ['the unspecified address', (port: number) => `0.0.0.0:${port}`],
    ['the IPv6 loopback', (port: number) => `[::1]:${port}`],
    ['the mapped address', (port: number) => `[::ffff:127.0.0.1]:${port}`],
    ['the metadata service', () => '169.254.169.254:80'],
  ])('rejects %s with 403, for tunnels and plain requests, and records it', async (_, targetFor) => {
    const [before, served] = [await refusals(), upstream.requests.length]
    const wrong = targetFor(upstream.port)
    expect(await sandbox.output(raw(`CONNECT ${wrong} HTTP/1.1\\r\\nHost: ${target}\\r\\n\\r\\n`))).toContain(
      ' 403 ',
    )
    expect(
      await sandbox.output(
        raw(`GET http://${wrong}/ HTTP/1.1\\r\\nHost: ${wrong}\\r\\nConnection: close\\r\\n\\r\\n`),
      ),
    ).toContain(' 403 ')
    expect(await refusals()).toBe(before + 2)
    expect(upstream.requests).toHaveLength(served)
  })

  it.each([
    ['a NUL byte', (port: number) => `evil.example\\0000.allowed.localhost:${port}`],
    ['a NUL byte behind', (port: number) => `allowed.localhost\\0000.evil.example:${port}`],
    ['user@host', (port: number) => `allowed.localhost@127.0.0.1:${port}`],
    ['user:port@host', (port: number) => `allowed.localhost:${port}@127.0.0.1:${port}`],
    ['a fragment', (port: number) => `127.0.0.1#.allowed.localhost:${port}`],
    ['percent-encoding', (port: number) => `allowed%2elocalhost:${port}`],
    ['a look-alike letter', (port: number) => `\\0320\\0260llowed.localhost:${port}`],
    ['two dots at the end', (port: number) => `allowed.localhost..:${port}`],
    ['a port that wraps around', (port: number) => `allowed.localhost:${port + 65_536}`],
    ['no port', () => 'allowed.localhost'],
  ])('rejects %s with 400, connects to nothing and records it', async (_, targetFor) => {
    const [before, served] = [await refusals(), upstream.requests.length]
    expect(
      await sandbox.output(raw(`CONNECT ${targetFor(upstream.port)} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n`)),
    ).toContain(' 400 ')
    expect(await refusals()).toBe(before + 1)
    expect(upstream.requests).toHaveLength(served)
  })

  it('rejects a request that names two hosts with 400, whichever of them is listed', async () => {
    const served = upstream.requests.length
    for (const [url, header] of [
      ['evil.example', target],
      [target, 'evil.example'],
    ])
      expect(
        await sandbox.output(raw(`GET http://${url}/ HTTP/1.1\\r\\nHost: ${header}\\r\\n\\r\\n`)),
      ).toContain(' 400 ')
    expect(upstream.requests).toHaveLength(served)
  })

  it('curl gets the reason why a target is denied', async () => {
    const { exitCode, stdout } = await sandbox.exec(
      `curl -sS --noproxy '' --proxy http://127.0.0.1:3128 http://evil.example/`,
    )
    expect(exitCode).toBe(0)
    expect(stdout).toContain('allow-list')
    expect((await sandbox.exec(`curl -sS --noproxy '' https://evil.example/`)).exitCode).not.toBe(0)
  })

  it('cannot bypass the proxy', async () => {
    for (const address of ['127.0.0.1', 'allowed.localhost'])
      expect(
        (await sandbox.exec(`curl -sS --noproxy '*' -m 3 http://${address}:${upstream.port}/`)).exitCode,
      ).toBe(7)
    expect((await sandbox.exec(`curl -sS --noproxy '*' -m 3 http://1.1.1.1/`)).exitCode).toBe(7)
    expect((await sandbox.exec(`curl -sS --noproxy '*' -m 3 http://example.org/`)).exitCode).toBe(6)
  })

  it('another sandbox of the same host has no proxy', async () => {
    const other = await host.open()
    expect((await other.exec(`curl -sS -m 3 --proxy http://127.0.0.1:3128 http://${target}/`)).exitCode).toBe(
      7,
    )
  })
})

describe.skipIf(reasonToSkip('self'))('a sandbox that may reach the loopback of its host', () => {
  it('finds the listed server on the same port, and the journal has the connecting process', async () => {
    await using host = openHost()
    const { server, port } = await serve('127.0.0.1')
    const sandbox = await host.open({ egress: [`localhost:${port}`] })
    expect(await sandbox.output(`exec curl -sS --noproxy '*' http://localhost:${port}/`)).toBe(
      'this is 127.0.0.1',
    )
    server.closeAllConnections()
    server.close()
    const both = async () => (await sandbox.events('network.allowed')).length === 2
    await expect.poll(both).toBe(true)
    const events = await sandbox.events('network.allowed')
    expect(events.map(({ data }) => data.phase)).toEqual(['opened', 'closed'])
    expect(events[1]?.data).toMatchObject({
      host: 'localhost',
      port,
      bytesIn: expect.any(Number),
      process: expect.any(String),
    })
  })

  it('records that the listed server does not respond before the program sees its connection closed', async () => {
    await using host = openHost()
    const { server, port } = await serve('127.0.0.1')
    await new Promise((resolve) => server.close(resolve))
    const sandbox = await host.open({ egress: [`localhost:${port}`] })
    expect((await sandbox.exec(`exec curl -sS --noproxy '*' http://localhost:${port}/`)).exitCode).not.toBe(0)
    const [opened] = await sandbox.events('network.allowed')
    expect(await sandbox.events('network.failed')).toMatchObject([
      {
        data: {
          connection: opened?.data.connection,
          host: 'localhost',
          port,
          error: 'ECONNREFUSED',
          process: expect.any(String),
        },
      },
    ])
  })

  it.each([
    ['localhost', '127.0.0.1'],
    ['127.0.0.1', 'localhost'],
    ['LOCALHOST', '127.0.0.2'],
  ])(
    'may list several hosts with the same port, and reaches the first that accepts (%s, %s)',
    async (...names) => {
      await using host = openHost()
      const { server, port } = await serve('127.0.0.1')
      const sandbox = await host.open({ egress: [...names, '[::1]'].map((name) => `${name}:${port}`) })
      const curl = `exec curl -sS --noproxy '*' http://127.0.0.1:${port}/`
      expect(await sandbox.output(curl)).toBe('this is 127.0.0.1')
      server.close()
      server.closeAllConnections()
      const other = await serve('127.0.0.2', port)
      const { stdout } = await sandbox.exec(curl)
      expect(stdout).toBe(names.includes('127.0.0.2') ? 'this is 127.0.0.2' : '')
      other.server.close()
      other.server.closeAllConnections()
    },
  )

  it('has its proxy on another port if the usual one is listed', async () => {
    await using host = openHost()
    const sandbox = await host.open({ egress: ['listed.example:443', 'localhost:3128'] })
    expect(await sandbox.output('echo $HTTPS_PROXY')).toBe('http://127.0.0.1:3129')
    expect(
      await sandbox.output("curl -s -o /dev/null -w '%{http_connect}' https://denied.example/ || true"),
    ).toBe('403')
  })

  it('reaches a listed address through its proxy too', async () => {
    await using host = openHost()
    const { server, port } = await serve('127.0.0.1')
    const sandbox = await host.open({ egress: [`127.0.0.1:${port}`, 'listed.example:443'] })
    expect(await sandbox.output(`curl -sS --noproxy '' http://127.0.0.1:${port}/`)).toBe('this is 127.0.0.1')
    server.close()
    server.closeAllConnections()
  })

  it('reaches the listed address, not another one with the same port', async () => {
    await using host = openHost()
    const listed = await serve('127.0.0.2')
    const other = await serve('127.0.0.1', listed.port)
    const sandbox = await host.open({ egress: [`127.0.0.2:${listed.port}`] })
    const said = await sandbox.output(
      `curl -sS --noproxy '*' -m 5 http://127.0.0.1:${listed.port}/; curl -sS --noproxy '*' -m 5 http://127.0.0.2:${listed.port}/`,
    )
    for (const { server } of [listed, other]) server.close()
    expect(said).toContain('this is 127.0.0.2')
    expect(said).not.toContain('this is 127.0.0.1')
    expect(other.requests).toEqual([])
  })
})
