import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { quoted, server } from '../../sandbox/commands.ts'
import { freePort } from '../../sandbox/free-port.ts'
import type { Attack } from '../kit.ts'
import { call, exchange, send, upgradeRequest } from './requests.ts'

/** A command that serves the head of every request that it gets. */
function mirror(port: number): string {
  const perl = `my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => ${port}, Listen => 20, ReuseAddr => 1) or die; while (my $c = $s->accept) { my $h = ""; while (<$c>) { $h .= $_; last if /^\\r?\\n$/ } print $c "HTTP/1.1 200 OK\\r\\nContent-Type: text/plain\\r\\nContent-Length: " . length($h) . "\\r\\nConnection: close\\r\\n\\r\\n$h"; close $c }`
  return `exec perl -MIO::Socket::INET -e ${quoted(perl)}`
}

/** The aim: to reach the host, the daemon or a person's browser through a preview. */
export const previewAttacks: readonly Attack[] = [
  {
    promise: 'a preview by path cannot act as a page of the daemon',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      const port = await freePort()
      await sandbox.spawn(server(port, '<script>fetch("/v1/sandboxes")</script>'))
      await sandbox.ports.waitFor(port)
      const { path } = await call(daemon, 'POST', `/v1/sandboxes/${sandbox.id}/ports/${port}/preview`)
      const { status, headers } = await send(daemon, path)
      expect(status).toBe(200)
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy.split(/[ ;]/)[0]).toBe('sandbox')
      expect(policy).not.toMatch(/allow-same-origin|allow-top-navigation/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    },
  },
  {
    promise: 'a preview leads to no server of the host and to no other port',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      const requests: string[] = []
      const service = createServer((request, response) => {
        requests.push(String(request.url))
        response.end('of the host')
      })
      await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
      target.defer(() => {
        service.closeAllConnections()
        service.close()
      })
      const { port: hostPort } = service.address() as AddressInfo
      const base = `/v1/sandboxes/${sandbox.id}/ports`
      await expect(call(daemon, 'POST', `${base}/${hostPort}/preview`)).rejects.toThrow()
      const port = await freePort()
      await sandbox.spawn(server(port, 'of the sandbox'))
      await sandbox.ports.waitFor(port)
      const { path } = await call(daemon, 'POST', `${base}/${port}/preview`)
      for (const way of [
        `http://127.0.0.1:${hostPort}/`,
        `//127.0.0.1:${hostPort}/`,
        `@127.0.0.1:${hostPort}/`,
        `:${hostPort}/`,
        `..%2f..%2f${hostPort}/`,
        `?port=${hostPort}`,
      ])
        await send(daemon, `${path}${way}`, { headers: { 'x-forwarded-host': `127.0.0.1:${hostPort}` } })
      expect(requests).toEqual([])
    },
  },
  {
    promise: 'a preview without its own token is not served',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      const port = await freePort()
      await sandbox.spawn(server(port, 'of the sandbox'))
      await sandbox.ports.waitFor(port)
      const { path } = await call(daemon, 'POST', `/v1/sandboxes/${sandbox.id}/ports/${port}/preview`)
      const [, prefix = '', token = ''] = /^(\/preview\/)([^/]+)\//.exec(path) ?? []
      for (const guess of [
        '',
        'x',
        token.slice(0, -1),
        `${token}x`,
        `${sandbox.id}-${port}`,
        daemon.readToken,
      ]) {
        const { status, body } = await send(daemon, `${prefix}${guess}/`)
        expect(status, guess).toBeGreaterThanOrEqual(400)
        expect(body).not.toContain('of the sandbox')
      }
    },
  },
  {
    promise: 'a preview passes no token of the daemon to the program inside',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      const port = await freePort()
      await sandbox.spawn(mirror(port))
      await sandbox.ports.waitFor(port)
      const { path } = await call(daemon, 'POST', `/v1/sandboxes/${sandbox.id}/ports/${port}/preview`)
      for (const token of [daemon.token, daemon.readToken]) {
        const authorizations = [
          `Bearer ${token}`,
          `Bearer  ${token}`,
          `bearer\t${token}`,
          `BEARER ${token} `,
          `Bearer "${token}"`,
        ]
        const encoded = Buffer.from(`user:${token}`).toString('base64').replace(/=*$/, '')
        const queries = [
          `auth=${encoded}`,
          `access_token=${token}`,
          `a=b&access_token=${token}&c=d`,
          `token=${token}`,
        ]
        const requests: readonly (readonly [query: string, headers: Record<string, string>])[] = [
          ...authorizations.map((authorization) => ['', { authorization }] as const),
          ...queries.map((query) => [`?${query}`, {}] as const),
          ['', { cookie: `access_token=${token}` }],
          ['', { 'x-api-key': token }],
          ['', { 'x-auth': `Basic ${encoded}` }],
          ['', /^[\w-]+$/.test(token) ? { [token]: 'x' } : {}],
          ['', { referer: `${daemon.url}/ui/?access_token=${token}` }],
        ]
        await Promise.all(
          requests.map(async ([query, headers]) => {
            const { status, body } = await send(daemon, `${path}${query}`, { headers })
            expect(status).toBe(200)
            for (const hidden of [token, encoded])
              expect(body, `${query} ${JSON.stringify(headers)}`).not.toContain(hidden)
          }),
        )
      }
      const own = { authorization: 'Bearer of-the-site' }
      expect((await send(daemon, `${path}?page=2`, { headers: own })).body).toMatch(
        /page=2[\s\S]*Bearer of-the-site/i,
      )
    },
  },
  {
    promise: 'a preview passes no token in the subprotocols of a WebSocket to the program inside',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      const port = await freePort()
      await sandbox.spawn(mirror(port))
      await sandbox.ports.waitFor(port)
      const { path } = await call(daemon, 'POST', `/v1/sandboxes/${sandbox.id}/ports/${port}/preview`)
      const upgrade = (protocols: string) =>
        exchange(daemon, upgradeRequest(path, [`host: ${new URL(daemon.url).host}`, protocols]))
      for (const token of [daemon.token, daemon.readToken]) {
        const spellings = [
          `sec-websocket-protocol: vitrine.token.${token}`,
          `sec-websocket-protocol: chat, vitrine.token.${token}`,
          `sec-websocket-protocol: VITRINE.TOKEN.${token},chat`,
          `sec-websocket-protocol: chat\r\nsec-websocket-protocol: vitrine.token.${token}`,
          `sec-websocket-protocol: chat , ${token}`,
          `sec-websocket-protocol: of.${token.replaceAll('-', '%2d')}`,
        ]
        const seen = await Promise.all(spellings.map(upgrade))
        for (const [index, head] of seen.entries()) {
          expect(head, spellings[index]).toMatch(/upgrade: websocket/i)
          expect(decodeURIComponent(head), spellings[index]).not.toContain(token)
        }
      }
      expect(await upgrade('sec-websocket-protocol: chat, superchat')).toMatch(/protocol: chat, ?superchat/i)
    },
  },
]
