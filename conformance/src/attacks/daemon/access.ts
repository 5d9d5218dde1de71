import { expect } from 'vitest'
import type { Attack } from '../kit.ts'
import { type AttackRequest, bearer, call, exchange, send, statusOf, upgradeRequest } from './requests.ts'

/** Requests that read, run or change something. */
function requestsOn(sandbox: string): readonly (readonly [path: string, request: AttackRequest])[] {
  const json = (method: string, body: unknown): AttackRequest => ({
    method,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
  const base = `/v1/sandboxes/${sandbox}`
  return [
    ['/v1/sandboxes', {}],
    ['/v1/sandboxes', json('POST', {})],
    [base, {}],
    [base, { method: 'DELETE' }],
    [`${base}/events`, {}],
    [`${base}/events`, { headers: { accept: 'text/event-stream' } }],
    ['/v1/events?scope=all', {}],
    [`${base}/exec`, json('POST', { command: 'touch owned' })],
    [`${base}/processes`, json('POST', { command: 'touch', args: ['owned'] })],
    [`${base}/files/content?path=secret`, {}],
    [`${base}/files/content?path=owned`, { method: 'PUT', body: 'x' }],
    [`${base}/workspace`, {}],
    [`${base}/sessions`, {}],
    ['/metrics', {}],
    ['/v1/health', {}],
    ['/openapi.json', {}],
  ]
}

function withHeaders(request: AttackRequest, headers: Record<string, string>): AttackRequest {
  return { ...request, headers: { ...request.headers, ...headers } }
}

const foreignHosts = [
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'evil.localhost',
  'localhost.',
  '2130706433',
  'user@localhost',
  'localhost, evil.example',
]
const foreignOrigins = ['https://evil.example', 'null', 'file://', 'http://localhost:1', 'http://127.0.0.1:1']

/** The aim: to use a daemon without the right to. */
export const accessAttacks: readonly Attack[] = [
  {
    promise: 'a request without a valid token reads and changes nothing',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      await sandbox.files.write('secret', 'of the sandbox')
      const guesses: readonly Record<string, string>[] = [
        {},
        bearer(''),
        bearer('wrong-token-0000'),
        bearer(daemon.token.slice(0, -1)),
        bearer(`${daemon.token}x`),
        bearer(daemon.token.toUpperCase() === daemon.token ? 'x' : daemon.token.toUpperCase()),
        { authorization: `Basic ${Buffer.from(`x:${daemon.token}`).toString('base64')}` },
        { cookie: `token=${daemon.token}; access_token=${daemon.token}` },
        { 'x-api-key': daemon.token, 'x-token': daemon.token },
      ]
      const open = ['/v1/health', '/openapi.json']
      for (const [path, request] of requestsOn(sandbox.id).filter(([path]) => !open.includes(path)))
        for (const headers of guesses) {
          const { status, body } = await send(daemon, path, withHeaders(request, headers))
          expect(status, `${path} with ${JSON.stringify(headers)}`).toBe(401)
          expect(body).not.toContain('of the sandbox')
        }
      for (const name of ['token', 'access_token', 'auth', 'key']) {
        const path = `/v1/sandboxes/${sandbox.id}/events?${name}=${daemon.token}`
        expect((await send(daemon, path)).status, name).toBe(401)
      }
      expect(await sandbox.files.exists('owned')).toBe(false)
    },
  },
  {
    promise: 'a read token changes nothing',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      const changing = requestsOn(sandbox.id).filter(([, { method = 'GET' }]) => method !== 'GET')
      for (const [path, request] of changing)
        expect((await send(daemon, path, withHeaders(request, bearer(daemon.readToken)))).status, path).toBe(
          403,
        )
      expect(await sandbox.files.exists('owned')).toBe(false)
    },
  },
  {
    promise: 'a request for a foreign host is refused, even with a valid token',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      for (const host of foreignHosts)
        for (const [path, request] of requestsOn(sandbox.id)) {
          const headers = { ...bearer(daemon.token), host }
          expect(
            (await send(daemon, path, withHeaders(request, headers))).status,
            `${path} for ${host}`,
          ).toBe(421)
        }
      expect(await sandbox.files.exists('owned')).toBe(false)
    },
  },
  {
    promise: 'a page of a foreign origin may not call, even with a valid token',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      for (const origin of foreignOrigins)
        for (const [path, request] of requestsOn(sandbox.id)) {
          const { status, headers } = await send(
            daemon,
            path,
            withHeaders(request, { ...bearer(daemon.token), origin }),
          )
          expect(status, `${path} from ${origin}`).toBe(403)
          expect(headers.get('access-control-allow-origin')).toBeNull()
        }
      const preflight = await send(daemon, `/v1/sandboxes/${sandbox.id}/exec`, {
        method: 'OPTIONS',
        headers: { origin: foreignOrigins[0]!, 'access-control-request-method': 'POST' },
      })
      expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
      expect(await sandbox.files.exists('owned')).toBe(false)
    },
  },
  {
    promise: 'a WebSocket of a foreign origin, of a foreign host or without a token gets no terminal',
    needs: ['daemon', 'terminals'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      const shell = await sandbox.spawn('sh', { tty: { cols: 80, rows: 24 } })
      const path = `/v1/sandboxes/${sandbox.id}/processes/${shell.id}/terminal/ws`
      const upgrade = (lines: readonly string[]) => exchange(daemon, upgradeRequest(path, lines))
      const token = `authorization: Bearer ${daemon.token}`
      const { host } = new URL(daemon.url)
      for (const origin of foreignOrigins)
        expect(statusOf(await upgrade([`host: ${host}`, `origin: ${origin}`, token])), origin).toBe(403)
      for (const foreign of foreignHosts)
        expect(statusOf(await upgrade([`host: ${foreign}`, token])), foreign).toBe(421)
      const wrong = 'authorization: Bearer wrong-token-0000'
      expect(statusOf(await upgrade([`host: ${host}`, wrong]))).toBe(401)
      expect(statusOf(await upgrade([`host: ${host}`, `authorization: Bearer ${daemon.readToken}`]))).toBe(
        403,
      )
      await shell.kill()
    },
  },
  {
    promise: 'a cursor of another journal returns none of its events',
    needs: ['daemon'],
    async run(target) {
      const daemon = await target.daemon()
      const [one, other] = [(await target.sandbox()).sandbox, (await target.sandbox()).sandbox]
      await other.exec('echo of-the-other')
      const { cursor } = await call(daemon, 'GET', `/v1/sandboxes/${other.id}/events?limit=2`)
      const base = `/v1/sandboxes/${one.id}/events`
      for (const path of [
        `${base}?after=${encodeURIComponent(cursor)}`,
        `${base}?before=${encodeURIComponent(cursor)}&order=desc`,
        `/v1/events?scope=all&after=${encodeURIComponent(cursor)}`,
      ]) {
        const { json, body } = await send(daemon, path, { headers: bearer(daemon.readToken) })
        expect(json.code, path).toBe('cursor_foreign')
        expect(body).not.toContain('of-the-other')
      }
      for (const made of [`${cursor}x`, cursor.slice(1), '-1', '0', '../..', 'x'.repeat(5_000)]) {
        const { status, json } = await send(daemon, `${base}?after=${encodeURIComponent(made)}`, {
          headers: bearer(daemon.token),
        })
        expect(status, made).toBeGreaterThanOrEqual(400)
        expect(json.code, made).toMatch(/^cursor_/)
      }
    },
  },
  {
    promise: 'a caller cannot act under the name of another',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      const base = `/v1/sandboxes/${sandbox.id}`
      const claims = { 'vitrine-caller': 'mallory', 'x-caller': 'mallory', 'x-forwarded-user': 'mallory' }
      const headers = { ...bearer(daemon.token), ...claims, 'content-type': 'application/json' }
      await send(daemon, `${base}/exec`, { method: 'POST', headers, body: '{"command":"true"}' })
      const forged = { command: 'true', caller: 'mallory' }
      const refused = await send(daemon, `${base}/exec`, {
        method: 'POST',
        headers,
        body: JSON.stringify(forged),
      })
      expect(refused.status).toBe(400)
      const { events } = await call(daemon, 'GET', `${base}/events?limit=1000`)
      const callers = events.map((event: { caller?: string }) => event.caller)
      expect(callers).not.toContain('mallory')
    },
  },
]
