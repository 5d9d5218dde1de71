import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDaemon, type TestDaemon, token } from '../daemon.ts'
import { say } from '../raw.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon({ allowHosts: ['Daemon.Example'] })
})
afterAll(() => daemon.close())

const health = (host: string) =>
  say(daemon.port, `GET /v1/health HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}`)

describe('the Host header', () => {
  it.each([
    'evil.example',
    'evil.example:PORT',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'localhost.',
    'evil.localhost',
    'sub.daemon.example',
    '2130706433',
    '0x7f000001',
  ])('is refused as %j, even with a valid path and token', async (host) => {
    const response = await health(host.replaceAll('PORT', String(daemon.port)))
    expect(response.status).toBe(421)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(JSON.parse(response.body)).toMatchObject({ code: 'host_refused', hint: expect.any(String) })
  })

  it.each([
    '[::1].evil.example',
    'localhost:99999999',
    'localhost:PORT:PORT',
    'user@localhost',
    'evil.example, localhost',
    'localhost/path',
    'localhost#evil.example',
    '',
    'lоcalhost',
  ])('is refused as %j, which is no host name', async (host) => {
    const response = await health(host.replaceAll('PORT', String(daemon.port)))
    expect(response.status).toBe(421)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(JSON.parse(response.body)).toMatchObject({ code: 'host_refused', hint: expect.any(String) })
  })

  it.each(['127.0.0.1:PORT', 'localhost', 'LOCALHOST:PORT', '[::1]', '[::1]:PORT', 'daemon.example:1234'])(
    'is accepted as %j',
    async (host) => {
      const response = await health(host.replaceAll('PORT', String(daemon.port)))
      expect(response.status).toBe(200)
    },
  )

  it('is checked also for an absolute request URL', async () => {
    const to = (target: string, host: string) =>
      say(daemon.port, `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}`)
    expect((await to('http://localhost/v1/health', 'evil.example')).status).toBe(421)
    expect((await to('http://evil.example/v1/health', 'evil.example')).status).toBe(421)
  })

  it('is required', async () => {
    const modern = await say(daemon.port, `GET /v1/health HTTP/1.1\r\nauthorization: Bearer ${token}`)
    expect(modern.status).toBeGreaterThanOrEqual(400)
    expect(modern.headers.get('content-type')).toBe('application/problem+json')
    const old = await say(daemon.port, `GET /v1/health HTTP/1.0\r\nauthorization: Bearer ${token}`)
    expect(old.status).toBeGreaterThanOrEqual(400)
    expect(old.headers.get('content-type')).toBe('application/problem+json')
  })

  it('is checked for pages too', async () => {
    const response = await say(daemon.port, 'GET /ui/ HTTP/1.1\r\nhost: evil.example')
    expect(response.status).toBe(421)
  })
})
