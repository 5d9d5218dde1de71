import { connect, type Socket } from 'node:net'
import { expect } from 'vitest'
import { allEvents } from '../../sandbox/events.ts'
import type { Attack, AttackedDaemon } from '../kit.ts'
import { expectNoLeak } from '../leaks.ts'
import { bearer, call, exchange, send, statusOf } from './requests.ts'

const secret = 'hush-3f9c1b7d2e5a60-of-the-caller'

async function post(daemon: AttackedDaemon, path: string, body: string) {
  const headers = { ...bearer(daemon.token), 'content-type': 'application/json' }
  return send(daemon, path, { method: 'POST', headers, body })
}

/** Opens a connection, writes to it, and waits for the event. */
function open({ url }: AttackedDaemon, written: string, event: 'connect' | 'data'): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) })
    const opened = () => resolve(socket)
    socket.once('connect', () => socket.write(written))
    // A connection that is refused is as good for these attacks.
    for (const name of [event, 'error', 'close']) socket.once(name, opened)
    socket.on('error', () => undefined)
    socket.resume()
  })
}

const halfHead = 'GET /v1/health HTTP/1.1\r\nhost: '

/** The aim: to confuse, to block or to sound out a daemon with the form of a request. */
export const inputAttacks: readonly Attack[] = [
  {
    promise: 'connections without a token do not lock out the holder of one',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      const held: Socket[] = []
      target.defer(() => {
        for (const socket of held) socket.destroy()
      })
      for (let count = 0; count < daemon.maxConnections; count += 50)
        held.push(...(await Promise.all(Array.from({ length: 50 }, () => open(daemon, halfHead, 'connect')))))
      for (const _round of [1, 2, 3])
        expect(
          await call(daemon, 'POST', `/v1/sandboxes/${sandbox.id}/exec`, { command: 'echo on' }).catch(
            String,
          ),
        ).toMatchObject({ stdout: 'on\n' })
    },
  },
  {
    promise: 'connections of a read token do not lock out the holder of a full one',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      const held: Socket[] = []
      target.defer(() => {
        for (const socket of held) socket.destroy()
      })
      const head = `GET /v1/sandboxes/${sandbox.id}/events HTTP/1.1\r\nhost: ${new URL(daemon.url).host}\r\nauthorization: Bearer ${daemon.readToken}\r\naccept: text/event-stream\r\n\r\n`
      for (let count = 0; count < daemon.maxConnections; count += 50)
        held.push(...(await Promise.all(Array.from({ length: 50 }, () => open(daemon, head, 'data')))))
      expect(held.filter(({ destroyed }) => !destroyed).length, 'open connections').toBeGreaterThan(0)
      for (const _round of [1, 2, 3])
        expect(
          await call(daemon, 'POST', `/v1/sandboxes/${sandbox.id}/exec`, { command: 'echo on' }).catch(
            String,
          ),
        ).toMatchObject({ stdout: 'on\n' })
    },
  },
  {
    promise: 'a request with an absolute URL or with two hosts is refused',
    needs: ['daemon'],
    async run(target) {
      const daemon = await target.daemon()
      const { host } = new URL(daemon.url)
      const token = `authorization: Bearer ${daemon.token}`
      const heads = [
        [`GET http://${host}/v1/sandboxes HTTP/1.1`, `host: ${host}`],
        [`GET http://evil.example/v1/sandboxes HTTP/1.1`, `host: ${host}`],
        ['GET /v1/sandboxes HTTP/1.1', `host: ${host}`, 'host: evil.example'],
        ['GET /v1/sandboxes HTTP/1.1', 'host: evil.example', `host: ${host}`],
        ['GET /v1/sandboxes HTTP/1.1', `host: ${host}`, `Host: ${host}`],
      ]
      for (const lines of heads) {
        const text = await exchange(daemon, [...lines, token, 'connection: close', '', ''].join('\r\n'))
        expect([400, 421], lines.join(', ')).toContain(statusOf(text))
      }
    },
  },
  {
    promise: 'a body that is too deep, too wide or names a prototype is refused with a reason',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      const base = `/v1/sandboxes/${sandbox.id}`
      const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
      const wide = JSON.stringify(
        Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`k${at}`, 1])),
      )
      const event = (data: string) => `{"events":[{"type":"log.message","data":${data}}]}`
      const message = (fields: string) => event(`{"level":"info","message":"x","fields":${fields}}`)
      const bodies: readonly (readonly [path: string, body: string])[] = [
        [`${base}/exec`, `{"command":${deep}}`],
        [`${base}/exec`, deep],
        [`${base}/events`, message(deep)],
        [`${base}/events`, message(wide)],
        [`${base}/exec`, '{"command":"true","env":{"__proto__":"x"}}'],
        ['/v1/sandboxes', '{"labels":{"__proto__":"x"}}'],
        ['/v1/sandboxes', '{"labels":{"__proto__":{"x":"y"}}}'],
      ]
      for (const [path, body] of bodies) {
        const response = await post(daemon, path, body)
        expect([400, 413, 422], `${path} with ${body.slice(0, 60)}`).toContain(response.status)
        expect(response.json.detail).toMatch(/\w/)
      }
    },
  },
  {
    promise: 'an error does not repeat a value that may be a secret',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      const base = `/v1/sandboxes/${sandbox.id}`
      const bodies: readonly (readonly [path: string, body: string])[] = [
        [`${base}/exec`, `{"command":"true","env":"${secret}"}`],
        [`${base}/exec`, `{"command":"true","env":{"KEY":["${secret}"]}}`],
        [`${base}/exec`, `{"command":"true","secrets":"${secret}"}`],
        [`${base}/exec`, `{"command":"true","secrets":{"KEY":["${secret}"]}}`],
        [`${base}/exec`, `{"command":"true" "${secret}"}`],
        [`${base}/exec`, secret],
        [`${base}/sessions`, `{"agent":"demo","credentials":"${secret}"}`],
        [`${base}/sessions`, `{"agent":"demo","credentials":{"KEY":["${secret}"]}}`],
        [`${base}/sessions`, `{"agent":"demo","mcpServers":[{"headers":"${secret}"}]}`],
        ['/v1/sandboxes', `{"secrets":"${secret}"}`],
      ]
      for (const [path, body] of bodies) {
        const response = await post(daemon, path, body)
        expect(response.status, body).toBeGreaterThanOrEqual(400)
        expect(response.body, body).not.toContain(secret)
      }
      const authorization = `Bearer ${secret}`
      const refused = await send(daemon, '/v1/sandboxes', { headers: { authorization } })
      expect(refused.body).not.toContain(secret)
    },
  },
  {
    promise: 'a token of the daemon that a command prints is in no event',
    needs: ['daemon'],
    async run(target) {
      const [daemon, { sandbox, journal }] = [await target.daemon(), await target.sandbox()]
      for (const token of [daemon.token, daemon.readToken]) {
        await sandbox.exec(['echo', token])
        await sandbox.exec(['echo', Buffer.from(`token: ${token}`).toString('base64')])
        expectNoLeak(await allEvents(journal), token, 'a token of the daemon')
      }
    },
  },
]
