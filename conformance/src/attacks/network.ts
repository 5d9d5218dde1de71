import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { server } from '../sandbox/commands.ts'
import { allEvents } from '../sandbox/events.ts'
import { freePort } from '../sandbox/free-port.ts'
import type { TestedSandbox } from '../sandbox/kit.ts'
import type { Attack, AttackTarget } from './kit.ts'
import { loopbackName, networkAddress } from './needs.ts'

/** A server of the host, and how often it was reached. */
interface Service {
  readonly port: number
  readonly requests: string[]
}

async function serve(target: AttackTarget, address = '127.0.0.1'): Promise<Service> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.end('of the host')
  })
  server.on('connect', (_request, socket) => {
    requests.push('CONNECT')
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  target.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, requests }
}

/** Reads requests from stdin, one in hexadecimal digits per line, and sends each to the proxy of the environment. */
const toProxy = `my ($proxy) = ($ENV{http_proxy} // "") =~ m{//([^/]+)}; exit unless $proxy; while (<STDIN>) { chomp; my $s = IO::Socket::INET->new(PeerAddr => $proxy, Timeout => 5) or next; print $s pack("H*", $_); eval { local $SIG{ALRM} = sub { die }; alarm 5; scalar <$s>; alarm 0 }; close $s }`

async function sendToProxy(sandbox: TestedSandbox, requests: readonly string[]): Promise<void> {
  const stdin = requests.map((request) => `${Buffer.from(request).toString('hex')}\n`).join('')
  await sandbox.exec(['perl', '-MIO::Socket::INET', '-e', toProxy], { stdin })
}

/** Tries destinations as tunnels, as plain requests and around the proxy. */
async function tryToConnect(sandbox: TestedSandbox, authorities: readonly string[]): Promise<void> {
  const requests = authorities.flatMap((authority) => [
    `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\nGET /tunnel HTTP/1.0\r\n\r\n`,
    `GET http://${authority}/plain HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`,
  ])
  await sendToProxy(sandbox, requests)
  const urls = authorities.filter((one) => !one.includes('\0')).map((one) => `http://${one}/direct`)
  await sandbox.exec(['curl', '-s', '-m', '3', '--noproxy', '*', ...urls])
}

const withoutProxy = 'env -u http_proxy -u https_proxy -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY -u all_proxy'

/** Fails if a command does not even reach a server of its own sandbox: then it is no wonder that it reaches nothing else. */
async function expectOwnServerReached(sandbox: TestedSandbox): Promise<void> {
  const port = await freePort()
  await sandbox.spawn(server(port, 'of the sandbox'))
  await sandbox.ports.waitFor(port)
  const url = `http://127.0.0.1:${port}/direct`
  expect((await sandbox.exec(['curl', '-s', '-m', '3', '--noproxy', '*', url])).stdout).toBe('of the sandbox')
}

const name = 'allowed.localhost'

/** Destinations that are not the listed name and port, however they are written. */
const spellings: readonly ((port: number) => string)[] = [
  (port) => `other.localhost:${port}`,
  (port) => `x.${name}:${port}`,
  (port) => `evil${name}:${port}`,
  (port) => `localhost:${port}`,
  (port) => `127.0.0.1:${port}`,
  (port) => `2130706433:${port}`,
  (port) => `0x7f000001:${port}`,
  (port) => `0177.0.0.1:${port}`,
  (port) => `127.1:${port}`,
  (port) => `0.0.0.0:${port}`,
  (port) => `0:${port}`,
  (port) => `[::1]:${port}`,
  (port) => `[::ffff:127.0.0.1]:${port}`,
  (port) => `[::ffff:7f00:1]:${port}`,
  (port) => `evil.example\0.${name}:${port}`,
  (port) => `${name}\0.evil.example:${port}`,
  (port) => `${name}@127.0.0.1:${port}`,
  (port) => `${name}:${port}@127.0.0.1:${port}`,
  (port) => `127.0.0.1#.${name}:${port}`,
  (port) => `127.0.0.1\\.${name}:${port}`,
  (port) => `127.0.0.1 ${name}:${port}`,
  (port) => `allowed%2elocalhost:${port}`,
  (port) => `аllowed.localhost:${port}`,
  (port) => `${name}..:${port}`,
  (port) => `${name}:${port + 65_536}`,
]

/** The aim: to reach a destination that is not allowed. */
export const networkAttacks: readonly Attack[] = [
  {
    promise: 'a sandbox without a network reaches nothing of the host',
    needs: ['no network'],
    async run(target) {
      const service = await serve(target)
      const { sandbox } = await target.sandbox({ network: 'none' })
      const hosts = ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0']
      await tryToConnect(sandbox, [...hosts.map((host) => `${host}:${service.port}`), '169.254.169.254:80'])
      expect(service.requests).toEqual([])
      await expectOwnServerReached(sandbox)
    },
  },
  {
    promise: 'an allow-list admits no other spelling, name, address or port',
    needs: ['egress'],
    async run(target) {
      const [listed, other, open] = [await serve(target), await serve(target), await serve(target)]
      const egress = [`${name}:${listed.port}`, `localhost:${open.port}`]
      const { sandbox, journal } = await target.sandbox({ egress })
      const others = [name, 'localhost', '127.0.0.1'].map((host) => `${host}:${other.port}`)
      await tryToConnect(sandbox, [...spellings.map((spelling) => spelling(listed.port)), ...others])
      expect([...listed.requests, ...other.requests]).toEqual([])
      const refused = await allEvents(journal, { types: ['network.refused'] })
      expect(refused.length, 'recorded refusals').toBeGreaterThan(spellings.length)
      await tryToConnect(sandbox, [`localhost:${open.port}`])
      expect(open.requests.length, 'requests to a listed destination').toBeGreaterThan(0)
    },
  },
  {
    promise: 'a request that names two hosts is not sent, whichever of them is listed',
    needs: ['egress', 'address of the network'],
    async run(target) {
      const address = networkAddress()!
      const [service, other] = [await serve(target, address), await serve(target)]
      const listed = `${address}:${service.port}`
      const { sandbox } = await target.sandbox({ egress: [listed] })
      const foreign = `127.0.0.1:${other.port}`
      const pairs = [
        [foreign, listed],
        [listed, foreign],
        [listed, `${listed}\r\nHost: ${foreign}`],
        [listed, `${foreign}\r\nHost: ${listed}`],
      ]
      const requests = [...pairs, [listed, listed]].map(
        ([url, host]) => `GET http://${url}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      )
      await sendToProxy(sandbox, requests.slice(0, -1))
      expect([...service.requests, ...other.requests]).toEqual([])
      await sendToProxy(sandbox, requests.slice(-1))
      expect(service.requests, 'requests that name one host').toEqual(['GET /'])
    },
  },
  {
    promise:
      'a listed name that resolves to the loopback address is not reached unless that address is listed',
    needs: ['egress', 'name of the loopback'],
    async run(target) {
      const [four, six] = [await serve(target), await serve(target, '::1').catch(() => undefined)]
      const ports = [four.port, ...(six ? [six.port] : [])]
      const loopback = (await loopbackName())!
      const open = await serve(target)
      const listed = ports.map((port) => `${loopback}:${port}`)
      const { sandbox } = await target.sandbox({ egress: [...listed, `localhost:${open.port}`] })
      await tryToConnect(sandbox, [...listed, `localhost:${open.port}`])
      expect([...four.requests, ...(six?.requests ?? [])]).toEqual([])
      expect(open.requests.length, 'requests to a listed address').toBeGreaterThan(0)
    },
  },
  {
    promise: 'the metadata address of a cloud is refused, and recorded as refused',
    needs: ['egress'],
    async run(target) {
      const { sandbox, journal } = await target.sandbox({ egress: [`${name}:1`] })
      const hosts = ['169.254.169.254', '2852039166', '[::ffff:169.254.169.254]', '[fd00:ec2::254]']
      await tryToConnect(
        sandbox,
        hosts.map((host) => `${host}:80`),
      )
      expect(await allEvents(journal, { types: ['network.allowed'] })).toEqual([])
      expect((await allEvents(journal, { types: ['network.refused'] })).length).toBeGreaterThan(3)
    },
  },
  {
    promise: 'a program that ignores the proxy reaches nothing',
    needs: ['egress'],
    async run(target) {
      const [service, own] = [await serve(target), await serve(target)]
      const open = `localhost:${own.port}`
      const { sandbox } = await target.sandbox({ egress: [`${name}:${service.port}`, open] })
      const ways = (authority: string): readonly (readonly string[])[] => [
        ['sh', '-c', `${withoutProxy} curl -s -m 3 http://${authority}/`],
        [
          'bash',
          '-c',
          `exec 3<> /dev/tcp/${authority.replace(':', '/')} && printf 'GET /raw HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`,
        ],
      ]
      for (const authority of ['127.0.0.1', 'localhost', name].map((host) => `${host}:${service.port}`))
        for (const way of ways(authority)) await sandbox.exec(way)
      expect(service.requests).toEqual([])
      // A listed port of the host is on the sandbox's own loopback: there, both ways lead to it.
      for (const way of ways(open)) await sandbox.exec(way)
      expect(own.requests, 'requests to a listed port').toEqual(['GET /', 'GET /raw'])
    },
  },
]
