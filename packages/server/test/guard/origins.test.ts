import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkedFetch } from '../contract/checked-fetch.ts'
import { bearer, openDaemon, problemOf, type TestDaemon, token } from '../daemon.ts'

const app = 'https://app.example.com'
let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon({ cors: [app] })
})
afterAll(() => daemon.close())

const health = (origin: string, init: RequestInit = {}) =>
  daemon.fetch('/v1/health', { ...init, headers: { ...init.headers, origin } })

describe('a page', () => {
  it.each([
    'https://evil.example',
    'null',
    'file://',
    'http://localhost:1',
    'https://app.example.com.evil.example',
    'http://app.example.com',
    'https://app.example.com:8443',
    `${app}/`,
    '*',
  ])('a page of %s may not call, even with a valid token', async (origin) => {
    const response = await health(origin)
    expect(await problemOf(response)).toMatchObject({ status: 403, code: 'origin_refused' })
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    const preflight = await health(origin, {
      method: 'OPTIONS',
      headers: { 'access-control-request-method': 'GET' },
    })
    expect(preflight.status).toBe(403)
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('a page of the daemon itself may call, and gets no CORS headers', async () => {
    const response = await health(daemon.url)
    expect(response.status).toBe(200)
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('a page of an allowed origin gets exactly its origin in success, problem and stream responses', async () => {
    const origin = { origin: app }
    for (const response of [
      await health(app),
      await daemon.fetch('/v1/nothing', { headers: origin }),
      await daemon.fetch('/v1/health', { headers: { ...origin, ...bearer('wrong-token-0000') } }),
      await daemon.fetch('/v1/events', { headers: { ...origin, accept: 'text/event-stream' } }),
    ]) {
      expect(response.headers.get('access-control-allow-origin')).toBe(app)
      expect(response.headers.get('vary')).toBe('origin')
      expect(response.headers.get('access-control-allow-credentials')).toBeNull()
      await response.body?.cancel()
    }
  })

  it('a page of an allowed origin may send a preflight without a token', async () => {
    const response = await checkedFetch(`${daemon.url}/v1/exec`, {
      method: 'OPTIONS',
      headers: { origin: app, 'access-control-request-method': 'POST' },
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe(app)
    expect(response.headers.get('access-control-allow-methods')).toContain('POST')
    expect(response.headers.get('access-control-allow-headers')).toContain('authorization')
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
  })

  it('gets no CORS headers when no origin is allowed', async () => {
    await using closed = await openDaemon()
    const response = await checkedFetch(`${closed.url}/v1/health`, {
      method: 'OPTIONS',
      headers: { origin: app, 'access-control-request-method': 'GET' },
    })
    expect((await problemOf(response)).code).toBe('origin_refused')
  })

  it('is allowed by its origin only, and other values are refused as origins', async () => {
    for (const cors of ['*', 'app.example.com', `${app}/path`, 'null'])
      await expect(openDaemon({ cors: [cors] }).then((one) => one.close())).rejects.toMatchObject({
        code: 'argument_invalid',
      })
  })
})

describe('every response', () => {
  it('has the security headers, and sets no cookie', async () => {
    await daemon.call('PUT', '/v1/files/content?path=headers.txt')
    for (const [path, init] of [
      ['/v1/health', {}],
      ['/v1/nothing', {}],
      ['/v1/health', { method: 'POST' }],
      ['/v1/health', { headers: bearer('wrong-token-0000') }],
      ['/v1/health', { headers: { origin: 'https://evil.example' } }],
      ['/v1/health', { method: 'OPTIONS', headers: { origin: app } }],
      ['/v1/events', { headers: { accept: 'text/event-stream' } }],
      ['/v1/files/watch', {}],
      ['/v1/files/content?path=headers.txt', {}],
      ['/v1/files/archive?path=.', {}],
      ['/v1/files/flush', { method: 'POST' }],
    ] as const) {
      const response = await daemon.fetch(path, init)
      const headers = Object.fromEntries(response.headers)
      expect(headers, path).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      })
      expect(headers).not.toHaveProperty('set-cookie')
      expect(JSON.stringify(headers)).not.toContain(token)
      await response.body?.cancel()
    }
  })
})
