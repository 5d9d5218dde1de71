import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDaemon, token } from '../daemon.ts'
import { isolations, openScene, patience, type Site, seenBy, visit } from '../preview/fixture.ts'
import { dial } from '../raw.ts'

describe.each(isolations)('a site in a sandbox (%s)', (isolation) => {
  let daemon: TestDaemon
  let site: Site
  beforeAll(async () => {
    ;({ daemon, site } = await openScene(isolation))
  })
  afterAll(() => daemon?.close())

  it('does not get the connection by refusing the WebSocket upgrade', async () => {
    const upgrade = [
      `GET ${site.path}refuse HTTP/1.1`,
      'host: localhost',
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
    ]
    using connection = await dial(daemon.port, `${upgrade.join('\r\n')}\r\n\r\n`)
    await expect.poll(() => connection.text, patience).toMatch(/\r\n\r\nno|problem\+json/)
    // A proxy with keep-alive connections sends another client's request next.
    connection.socket.write(
      `GET /v1/health HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`,
    )
    const received = async () => JSON.stringify((await seenBy(daemon, site)).seen)
    await expect
      .poll(async () => connection.socket.destroyed || (await received()).includes('/v1/health'), patience)
      .toBe(true)
    expect(await received()).not.toContain(token)
  })

  it('does not receive early bytes of an upgrade as another request', async () => {
    const upgrade = [
      `GET ${site.path}live HTTP/1.1`,
      'host: localhost',
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
    ]
    using connection = await dial(daemon.port, `${upgrade.join('\r\n')}\r\n\r\n`)
    connection.socket.setNoDelay(true)
    connection.socket.write('GET /early HTTP/1.1\r\nhost: x\r\n\r\n')
    await expect
      .poll(() => connection.socket.destroyed || connection.text.includes('HTTP/1.1 '), patience)
      .toBe(true)
    const lines = (await seenBy(daemon, site)).seen.map(({ line }) => line)
    expect(lines).not.toContain('GET /early')
  })

  it('cannot be reached through the daemon’s own routes, nor reach them', async () => {
    const forged = await visit(daemon, site, 'path', '', {
      headers: { authorization: 'Bearer wrong-token-0' },
    })
    expect(forged.status).toBe(200)
    for (const path of ['v1/exec', 'v1/sandboxes']) {
      const { json } = await visit(daemon, site, 'host', path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{"command":"id"}',
      })
      expect(json).toMatchObject({ name: 'site', url: `/${path}` })
    }
    const { events } = await daemon.call('GET', '/v1/events?scope=all&types=operation.started&text=exec')
    expect(events.filter(({ data }: { data: { op: string } }) => data.op === 'exec')).toEqual([])
  })
})
