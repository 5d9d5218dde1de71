import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDaemon, type TestDaemon } from '../daemon.ts'
import { dial } from '../raw.ts'
import { dialSocket } from '../sockets/dialling.ts'
import { openScene, patience, type Site, seenBy, visit } from './fixture.ts'

describe('a message that a preview forwards', () => {
  let daemon: TestDaemon
  let site: Site
  beforeAll(async () => {
    ;({ daemon, site } = await openScene('none'))
  })
  afterAll(() => daemon?.close())

  it.each(['DELETE', 'OPTIONS', 'POST', 'PUT'])(
    'forwards a %s whose body has no length as one request',
    async (method) => {
      const before = (await seenBy(daemon, site)).seen.length
      const hidden = 'GET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n'
      using connection = await dial(
        daemon.port,
        `${method} ${site.path}outer HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n` +
          `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`,
      )
      expect(await connection.ended).toMatch(/^HTTP\/1.1 200 /)
      expect((await visit(daemon, site, 'path', 'next')).status).toBe(200)
      const { seen } = await seenBy(daemon, site)
      expect(seen.slice(before).map(({ line }) => line)).toEqual([
        `${method} /outer`,
        'GET /next',
        'GET /seen',
      ])
    },
  )

  it('announces no body for a 205', async () => {
    const { status, headers } = await visit(daemon, site, 'path', 'reset')
    expect([status, headers['content-length']]).toEqual([205, undefined])
  })

  it('keeps the names of the site’s headers', async () => {
    const { status, headers, body } = await visit(daemon, site, 'path', 'odd-names')
    expect([status, headers.constructor, headers.tostring, body]).toEqual([200, 'x', 'y', 'ok'])
  })

  it('is no upgraded connection unless the client requested one', async () => {
    expect((await visit(daemon, site, 'path', 'switch')).json).toMatchObject({ code: 'port_unavailable' })
  })

  it('ends a WebSocket with the daemon', async () => {
    const { daemon: own, site: shown } = await openScene('none')
    try {
      using visitor = await dial(
        own.port,
        `GET ${shown.path}live HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n\r\n`,
      )
      await expect.poll(() => visitor.text, patience).toMatch(/^HTTP\/1.1 101 /)
      await own.listening.close()
      await visitor.ended
    } finally {
      await own.close()
    }
  })
})

describe('an upgrade that is refused', () => {
  it('is closed, also if the client leaves its half open', async () => {
    await using daemon = await openDaemon()
    using half = await dial(
      daemon.port,
      'GET /v1/processes/x/terminal/ws HTTP/1.1\r\nhost: evil.example\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n',
      { allowHalfOpen: true },
    )
    await expect.poll(() => half.text, patience).toMatch(/^HTTP\/1.1 421 /)
    // Only a connection that is closed on both sides responds to data with a reset.
    const isGone = () => {
      half.socket.write('x')
      return half.socket.destroyed
    }
    await expect.poll(isGone, patience).toBe(true)
  })

  it('is refused while the daemon shuts down', async () => {
    await using daemon = await openDaemon()
    daemon.server.close()
    const late = dialSocket(daemon, '/v1/processes/x/terminal/ws', { token: daemon.token })
    await expect(late.opened).rejects.toThrow('503')
  })
})
