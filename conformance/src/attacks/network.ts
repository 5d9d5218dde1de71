import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { quoted } from '../sandbox/commands.ts'
import { allEvents } from '../sandbox/events.ts'
import type { TestedSandbox } from '../sandbox/kit.ts'
import type { Attack, AttackTarget } from './kit.ts'
import { loopbackName } from './needs.ts'

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

/** Sends bytes to the proxy that the sandbox's environment names, and prints the first line of the response. */
function toProxy(bytes: string): string {
  const perl =
    'my ($h) = ($ENV{http_proxy} // "") =~ m{//([^/]+)}; exit 0 unless $h; $s = IO::Socket::INET->new(PeerAddr => $h, Timeout => 5) or exit 0; print $s join("", <STDIN>); alarm 5; print scalar <$s>'
  return `printf '%b' ${quoted(bytes)} | perl -MIO::Socket::INET -e ${quoted(perl)}`
}

/** Tries a destination as a tunnel, as a plain request and around the proxy. */
async function tryToConnect(sandbox: TestedSandbox, authority: string): Promise<void> {
  const tunnel = `CONNECT ${authority} HTTP/1.1\\r\\nHost: ${authority}\\r\\n\\r\\nGET /tunnel HTTP/1.0\\r\\n\\r\\n`
  const plain = `GET http://${authority}/plain HTTP/1.1\\r\\nHost: ${authority}\\r\\nConnection: close\\r\\n\\r\\n`
  const direct = `curl -s -m 3 --noproxy '*' ${quoted(`http://${authority}/direct`)}`
  await sandbox.exec(`${toProxy(tunnel)}; ${toProxy(plain)}; ${direct}`)
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
  (port) => `evil.example\\0000.${name}:${port}`,
  (port) => `${name}\\0000.evil.example:${port}`,
  (port) => `${name}@127.0.0.1:${port}`,
  (port) => `${name}:${port}@127.0.0.1:${port}`,
  (port) => `127.0.0.1#.${name}:${port}`,
  (port) => `127.0.0.1\\\\.${name}:${port}`,
  (port) => `127.0.0.1 ${name}:${port}`,
  (port) => `allowed%2elocalhost:${port}`,
  (port) => `\\0320\\0260llowed.localhost:${port}`,
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
      for (const host of ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0'])
        await tryToConnect(sandbox, `${host}:${service.port}`)
      await tryToConnect(sandbox, '169.254.169.254:80')
      expect(service.requests).toEqual([])
    },
  },
  {
    promise: 'an allow-list admits no other spelling, name, address or port',
    needs: ['egress'],
    async run(target) {
      const [listed, other, open] = [await serve(target), await serve(target), await serve(target)]
      const egress = [`${name}:${listed.port}`, `localhost:${open.port}`]
      const { sandbox, journal } = await target.sandbox({ egress })
      for (const spelling of spellings) await tryToConnect(sandbox, spelling(listed.port))
      for (const host of [name, 'localhost', '127.0.0.1'])
        await tryToConnect(sandbox, `${host}:${other.port}`)
      expect([...listed.requests, ...other.requests]).toEqual([])
      const refused = await allEvents(journal, { types: ['network.refused'] })
      expect(refused.length, 'recorded refusals').toBeGreaterThan(spellings.length)
      await tryToConnect(sandbox, `localhost:${open.port}`)
      expect(open.requests.length, 'requests to a listed destination').toBeGreaterThan(0)
    },
  },
  {
    promise: 'a request that names two hosts is not sent, whichever of them is listed',
    needs: ['egress'],
    async run(target) {
      const [service, other] = [await serve(target), await serve(target)]
      const listed = `${name}:${service.port}`
      const { sandbox } = await target.sandbox({ egress: [listed] })
      for (const [url, header] of [
        [`127.0.0.1:${other.port}`, listed],
        [listed, `127.0.0.1:${other.port}`],
        [listed, `${listed}\\r\\nHost: 127.0.0.1:${other.port}`],
      ])
        await sandbox.exec(
          toProxy(`GET http://${url}/ HTTP/1.1\\r\\nHost: ${header}\\r\\nConnection: close\\r\\n\\r\\n`),
        )
      expect([...service.requests, ...other.requests]).toEqual([])
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
      const { sandbox } = await target.sandbox({ egress: ports.map((port) => `${loopback}:${port}`) })
      for (const port of ports) await tryToConnect(sandbox, `${loopback}:${port}`)
      expect([...four.requests, ...(six?.requests ?? [])]).toEqual([])
    },
  },
  {
    promise: 'the metadata address of a cloud is refused, and recorded as refused',
    needs: ['egress'],
    async run(target) {
      const { sandbox, journal } = await target.sandbox({ egress: [`${name}:1`] })
      for (const host of ['169.254.169.254', '2852039166', '[::ffff:169.254.169.254]', '[fd00:ec2::254]'])
        await tryToConnect(sandbox, `${host}:80`)
      expect(await allEvents(journal, { types: ['network.allowed'] })).toEqual([])
      expect((await allEvents(journal, { types: ['network.refused'] })).length).toBeGreaterThan(3)
    },
  },
  {
    promise: 'a program that ignores the proxy reaches nothing',
    needs: ['egress'],
    async run(target) {
      const service = await serve(target)
      const { sandbox } = await target.sandbox({ egress: [`${name}:${service.port}`] })
      const address = `127.0.0.1:${service.port}`
      const clean = 'env -u http_proxy -u https_proxy -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY -u all_proxy'
      await sandbox.exec(
        `${clean} curl -s -m 3 http://${address}/; ${clean} curl -s -m 3 http://${name}:${service.port}/`,
      )
      await sandbox.exec([
        'bash',
        '-c',
        `exec 3<> /dev/tcp/127.0.0.1/${service.port} && printf 'GET /raw HTTP/1.0\\r\\n\\r\\n' >&3`,
      ])
      expect(service.requests).toEqual([])
    },
  },
]
