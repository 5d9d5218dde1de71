import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkedFetch } from '../contract/checked-fetch.ts'
import { bearer, openDaemon, problemOf, readToken, type TestDaemon, token } from '../daemon.ts'
import { say } from '../raw.ts'
import { everyRequest } from './requests.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
})
afterAll(() => daemon.close())

const requests = everyRequest()

describe('a route', () => {
  it.each(requests)('refuses requests without a valid token: $method $path', async ({ method, path }) => {
    const events = await countEvents()
    for (const [query, headers] of [
      ['', {}],
      ['', bearer('wrong-token-000000000000')],
      ['', bearer(token.slice(0, -1))],
      ['', { authorization: `Basic ${btoa(`alice:${token}`)}` }],
      ['', { authorization: token }],
      ['', { cookie: `token=${token}`, 'x-api-key': token }],
      [`?access_token=${token}`, {}],
      [`?token=${token}`, {}],
    ] as const) {
      const response = await checkedFetch(`${daemon.url}${path}${query}`, { method, headers })
      expect(await problemOf(response)).toMatchObject({ status: 401, code: 'token_invalid' })
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
      expect(response.headers.get('set-cookie')).toBeNull()
    }
    expect(await countEvents()).toBe(events)
  })

  it.each(requests.filter(({ access }) => access === 'full'))(
    'refuses a read-only token before the request is validated: $method $path',
    async ({ method, path }) => {
      const events = await countEvents()
      const response = await checkedFetch(`${daemon.url}${path}`, { method, headers: bearer(readToken) })
      expect(await problemOf(response)).toMatchObject({ status: 403, code: 'access_denied' })
      expect(await countEvents()).toBe(events)
    },
  )

  it.each(requests.filter(({ access }) => access === 'read'))(
    'allows a read-only token: $method $path',
    async ({ method, path }) => {
      const response = await checkedFetch(`${daemon.url}${path}`, { method, headers: bearer(readToken) })
      expect([401, 403]).not.toContain(response.status)
      await response.body?.cancel()
    },
  )
})

describe('a path outside of the route table', () => {
  it.each(['/metrics', '/openapi.json', '/v1/nothing', '/'.repeat(3)])('needs a token: %s', async (path) => {
    const response = await checkedFetch(`${daemon.url}${path}`)
    expect(await problemOf(response)).toMatchObject({ status: 401, code: 'token_invalid' })
  })
})

describe('a token', () => {
  it('is accepted with a scheme in any case, and never twice', async () => {
    const response = await checkedFetch(`${daemon.url}/v1/health`, {
      headers: { authorization: `bearer ${token}` },
    })
    expect(await response.json()).toMatchObject({ status: 'ok' })
    const twice = await say(
      daemon.port,
      `GET /v1/health HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer wrong-token\r\nauthorization: Bearer ${token}`,
    )
    expect(twice.status).toBe(401)
  })

  it('is refused if it is too long or contains spaces', async () => {
    for (const bad of ['x'.repeat(600), `${token} ${token}`, `${token},${token}`]) {
      const response = await checkedFetch(`${daemon.url}/v1/health`, { headers: bearer(bad) })
      expect((await problemOf(response)).code).toBe('token_invalid')
    }
  })

  it('must have at least eight visible characters', async () => {
    for (const weak of ['', 'short', 'with space in it', 'ümlaut-token'])
      await expect(
        openDaemon({ tokens: [{ name: 'weak', token: weak, access: 'full' }] }).then((one) => one.close()),
      ).rejects.toMatchObject({ code: 'argument_invalid' })
  })

  it('is not needed with anonymous access, and a wrong one is still refused', async () => {
    await using open = await openDaemon({ allowAnonymous: true })
    expect((await checkedFetch(`${open.url}/v1/health`)).status).toBe(200)
    const wrong = await checkedFetch(`${open.url}/v1/health`, { headers: bearer('wrong-token-000000000000') })
    expect((await problemOf(wrong)).status).toBe(401)
    const page = await checkedFetch(`${open.url}/v1/health`, { headers: { origin: 'https://evil.example' } })
    expect((await problemOf(page)).status).toBe(403)
  })
})

/** A refused request leaves no event of work. */
async function countEvents(): Promise<number> {
  const journal = await daemon.host.store.journal(daemon.sandbox)
  return journal.head.seq
}
