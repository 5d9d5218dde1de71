import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readToken, type TestDaemon, token } from '../daemon.ts'
import { dial } from '../raw.ts'
import { addressOf, forms, isolations, openScene, type Site, seenBy, visit } from './fixture.ts'

describe.each(isolations)('the headers of a preview (%s)', (isolation) => {
  let daemon: TestDaemon
  let site: Site
  beforeAll(async () => {
    ;({ daemon, site } = await openScene(isolation))
  })
  afterAll(() => daemon?.close())

  describe.each(forms)('by %s, on the way in', (form) => {
    const sent = async (headers: Record<string, string>) =>
      (await visit(daemon, site, form, 'headers', { headers })).json.headers

    it('do not contain a daemon token', async () => {
      for (const one of [token, readToken])
        for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
          const headers = await sent({ authorization: `${scheme} ${one}` })
          expect(JSON.stringify(headers)).not.toContain(one)
        }
      expect(JSON.stringify(await seenBy(daemon, site))).not.toContain(token)
    })

    it('contain the site’s own headers', async () => {
      const own = { authorization: 'Bearer of-the-site', 'x-own': 'mine', accept: 'text/html' }
      expect(await sent(own)).toMatchObject(own)
      expect(await sent({ authorization: 'Basic bWU6bWU=' })).toMatchObject({
        authorization: 'Basic bWU6bWU=',
      })
    })

    it('contain no hop-by-hop headers', async () => {
      const { base, host = 'localhost' } = addressOf(site, form)
      const lines = [
        `GET ${base}headers HTTP/1.1`,
        `host: ${host}`,
        'connection: close, x-of-this-connection',
        'x-of-this-connection: mine',
        'keep-alive: timeout=99',
        'te: trailers',
        'trailer: x-sum',
        'proxy-authorization: Basic bWU6bWU=',
        'proxy-connection: keep-alive',
      ]
      using raw = await dial(daemon.port, `${lines.join('\r\n')}\r\n\r\n`)
      await raw.ended
      const { seen } = await seenBy(daemon, site)
      const { headers } = seen.findLast(({ line }) => line === 'GET /headers')!
      expect(headers.connection ?? '').not.toContain('x-of-this-connection')
      for (const name of ['keep-alive', 'te', 'trailer', 'proxy-authorization', 'proxy-connection'])
        expect(headers, name).not.toHaveProperty([name])
      expect(headers, 'named by Connection').not.toHaveProperty(['x-of-this-connection'])
    })

    it('contain one host, also if several were sent', async () => {
      const { base, host = 'localhost' } = addressOf(site, form)
      using raw = await dial(
        daemon.port,
        `GET ${base}headers HTTP/1.1\r\nhost: ${host}\r\nhost: evil.example\r\nconnection: close\r\n\r\n`,
      )
      const text = await raw.ended
      expect(text).not.toContain('evil.example')
    })
  })

  it('contain the cookies of its own host name, and none of the daemon’s', async () => {
    const headers = { cookie: 'of=this-name' }
    expect((await visit(daemon, site, 'host', '', { headers })).json.headers.cookie).toBe('of=this-name')
    // Cookies know no ports: those of every program on this address would go along.
    expect((await visit(daemon, site, 'path', '', { headers })).json.headers).not.toHaveProperty('cookie')
  })

  it('the headers of a preview by host pass in responses, except hop-by-hop ones', async () => {
    const { headers } = await visit(daemon, site, 'host', 'grabby')
    expect(headers).toMatchObject({
      'set-cookie': ['a=1; Path=/', 'b=2; Path=/; Domain=localhost'],
      'content-security-policy': "object-src 'none'",
      'x-own': 'kept',
      'referrer-policy': 'no-referrer',
    })
    expect(headers.connection ?? '').not.toContain('x-of-this-connection')
    expect(headers['keep-alive']).not.toBe('timeout=99')
    expect(headers, 'named by Connection').not.toHaveProperty('x-of-this-connection')
  })

  it('the headers of a preview by path set nothing for the daemon’s origin, and sandbox the page', async () => {
    const { headers, body } = await visit(daemon, site, 'path', 'grabby')
    expect(body).toContain('<script>')
    const policy = String(headers['content-security-policy'])
    expect(policy.split(' ')[0]).toBe('sandbox')
    expect(policy).not.toMatch(/allow-same-origin|allow-top-navigation|escape-sandbox|self/)
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-own': 'kept',
    })
    expect(headers).not.toHaveProperty('set-cookie')
    // It would empty what the daemon's own page keeps.
    expect(headers).not.toHaveProperty('clear-site-data')
    expect(headers).not.toHaveProperty('service-worker-allowed')
  })
})
