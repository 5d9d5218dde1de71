import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDaemon, type TestDaemon } from './daemon.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
})
afterAll(() => daemon.close())

describe('/healthz', () => {
  it('says without a token that the daemon is alive, and nothing else', async () => {
    const response = await fetch(`${daemon.url}/healthz`)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('{"status":"ok"}')
    const head = await fetch(`${daemon.url}/healthz`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it('takes no other method, and leads nowhere else', async () => {
    expect((await fetch(`${daemon.url}/healthz`, { method: 'POST', body: 'x' })).status).toBe(405)
    for (const path of ['/healthz/', '/healthz/../v1/health', '/v1/health', '/metrics'])
      expect((await fetch(`${daemon.url}${path}`)).status, path).toBe(401)
  })

  it('is 503 once the daemon is closing', async () => {
    await using other = await openDaemon()
    other.server.close()
    const response = await other.server.fetch(new Request('http://localhost/healthz'))
    expect([response.status, await response.json()]).toEqual([503, { status: 'closing' }])
  })
})
