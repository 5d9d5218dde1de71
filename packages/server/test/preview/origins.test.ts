import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDaemon, type ResponseJson, type TestDaemon, token } from '../daemon.ts'
import { say } from '../raw.ts'
import { forms, isolations, newSandbox, newSite, openScene, type Site, visit } from './fixture.ts'

describe.each(isolations)('a preview (%s)', (isolation) => {
  let daemon: TestDaemon
  let site: Site
  beforeAll(async () => {
    ;({ daemon, site } = await openScene(isolation))
  })
  afterAll(() => daemon?.close())

  it.each(forms)('shows the port by %s, without a daemon token', async (form) => {
    const { status, json } = await visit(daemon, site, form, 'some/page?x=%2F&y=%C3%BC', { method: 'POST' })
    expect(status).toBe(200)
    expect(json).toMatchObject({ name: 'site', method: 'POST', url: '/some/page?x=%2F&y=%C3%BC' })
    expect(json.headers.host).toBe(`localhost:${site.port}`)
  })

  it('has its own origin for every port, and the same one on the next request', async () => {
    const other = await newSite(daemon, site.sandbox, 'other')
    const again = await daemon.call('POST', `/v1/sandboxes/${site.sandbox}/ports/${site.port}/preview`)
    expect(again).toMatchObject({ token: site.token, url: site.url, path: site.path })
    expect(site.url).toBe(`http://${site.token}.localhost:${daemon.port}/`)
    const origins = [site.url, other.url, daemon.url].map((url) => new URL(url).origin)
    expect(new Set(origins).size).toBe(3)
    for (const form of forms) {
      expect((await visit(daemon, site, form, '')).json.name).toBe('site')
      expect((await visit(daemon, other, form, '')).json.name).toBe('other')
    }
  })

  it('a preview of one port cannot be redirected to another by the request', async () => {
    const other = await newSite(daemon, site.sandbox, 'other')
    for (const [path, headers] of [
      [`${other.port}`, {}],
      [`?port=${other.port}`, {}],
      [`preview/${other.token}/`, {}],
      ['', { 'x-forwarded-host': new URL(other.url).host, forwarded: `host=${new URL(other.url).host}` }],
      ['', { 'x-forwarded-port': String(other.port), 'x-original-url': other.path }],
    ] as const)
      for (const form of forms)
        expect((await visit(daemon, site, form, path, { headers })).json.name).toBe('site')
  })

  it.each(['@127.0.0.1:1/', '/127.0.0.1:1/x', 'http://127.0.0.1:1/', ':1/', 'x/..%2f..%2fv1/health'])(
    'sends %j to its own port and to no other',
    async (path) => {
      for (const form of forms) {
        const { status, json } = await visit(daemon, site, form, path)
        expect({ status, name: json.name, host: json.headers.host }).toEqual({
          status: 200,
          name: 'site',
          host: `localhost:${site.port}`,
        })
      }
    },
  )

  it('cannot be left with .. or a backslash', async () => {
    for (const up of ['..', '%2e%2e', '.%2E', 'x/../..']) {
      const { status, json } = await visit(daemon, site, 'path', `${up}/v1/health`)
      expect({ up, status, code: json.code }).toEqual({ up, status: 401, code: 'token_invalid' })
      const { json: own } = await visit(daemon, site, 'host', `${up}/v1/health`)
      expect(own).toMatchObject({ name: 'site', url: '/v1/health' })
    }
    for (const form of forms) expect((await visit(daemon, site, form, '\\127.0.0.1:1/')).status).toBe(400)
  })

  it('follows no redirect of the site', async () => {
    const to = `${daemon.url}/v1/health`
    for (const form of forms) {
      const { status, headers, body } = await visit(
        daemon,
        site,
        form,
        `redirect?to=${encodeURIComponent(to)}`,
      )
      expect({ status, location: headers.location, body }).toEqual({ status: 302, location: to, body: '' })
    }
  })

  it('serves nothing of the daemon at its host name, even with a valid token', async () => {
    const headers = { authorization: `Bearer ${token}` }
    for (const path of ['v1/health', 'v1/exec', 'ui/', 'openapi.json', `preview/${site.token}/`]) {
      const { json } = await visit(daemon, site, 'host', path, { headers })
      expect(json).toMatchObject({ name: 'site', url: `/${path}` })
    }
  })

  it('needs its whole token at the right position', async () => {
    const { token: own } = site
    const host = (name: string) => say(daemon.port, `GET / HTTP/1.1\r\nhost: ${name}`)
    for (const name of [
      `${own.slice(1)}.localhost`,
      `${own}0.localhost`,
      `${own}.localhost.evil.example`,
      `${own}.evil.example`,
      `x.${own}.localhost`,
      `localhost.${own}`,
      own,
    ])
      expect((await host(name)).status, name).toBe(421)
    for (const path of [
      `/preview/${own.slice(1)}/`,
      `/preview/${own}0/`,
      `/preview/${'0'.repeat(40)}/`,
      `/preview/%00${own}/`,
      `/x/preview/${own}/`,
    ]) {
      const { status, body } = await say(daemon.port, `GET ${path} HTTP/1.1\r\nhost: localhost`)
      expect({ path, status, code: JSON.parse(body).code }).toEqual({
        path,
        status: 401,
        code: 'token_invalid',
      })
    }
  })

  it('is created only for a listening port, and only with full access', async () => {
    await using elsewhere = await openDaemon()
    const refusal = async (port: number | string, headers = {}): Promise<ResponseJson> => {
      const path = `/v1/sandboxes/${site.sandbox}/ports/${port}/preview`
      const response = await daemon.fetch(path, { method: 'POST', headers })
      return { status: response.status, code: ((await response.json()) as ResponseJson).code }
    }
    // This process listens on both, and the sandbox on neither.
    for (const port of [daemon.port, elsewhere.port])
      expect(await refusal(port)).toEqual({ status: 404, code: 'port_unavailable' })
    for (const port of [0, 65_536, -1, 'x', '1.5', `${site.port}@evil.example`, '127.0.0.1'])
      expect((await refusal(port)).status, String(port)).toBe(400)
    const looksOn = { authorization: `Bearer ${daemon.readToken}` }
    expect(await refusal(site.port, looksOn)).toEqual({ status: 403, code: 'access_denied' })
  })

  it('shows no port of another sandbox', async () => {
    const neighbour = await newSandbox(daemon, isolation)
    const response = await daemon.fetch(`/v1/sandboxes/${neighbour}/ports/${site.port}/preview`, {
      method: 'POST',
    })
    expect(response.status).toBe(404)
  })

  it('shows nothing after its sandbox was destroyed', async () => {
    const sandbox = await newSandbox(daemon, isolation)
    const site = await newSite(daemon, sandbox)
    await daemon.call('DELETE', `/v1/sandboxes/${sandbox}`)
    for (const form of forms) {
      const { status, headers, json } = await visit(daemon, site, form, '')
      expect({ status, code: json.code, type: headers['content-type'] }).toEqual({
        status: 410,
        code: 'sandbox_destroyed',
        type: 'application/problem+json',
      })
    }
  })
})
