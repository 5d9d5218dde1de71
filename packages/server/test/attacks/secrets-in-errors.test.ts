import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonBody, openDaemon, type TestDaemon, token } from '../daemon.ts'
import { say } from '../raw.ts'

const secret = 'hunter22-of-the-test-4711'
let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
})
afterAll(() => daemon.close())

const refused = async (method: string, path: string, init: RequestInit = {}) => {
  const response = await daemon.fetch(path, { method, ...init })
  expect(response.status).toBeGreaterThanOrEqual(400)
  expect(response.status).toBeLessThan(502)
  return response.text()
}

describe('an error about a field that may hold a secret', () => {
  it.each([
    ['/v1/exec', { command: 'id', env: secret }],
    ['/v1/exec', { command: 'id', env: [secret] }],
    ['/v1/exec', { command: 'id', env: { [`KEY=${secret}`]: 1 } }],
    ['/v1/exec', { command: 'id', env: { [`KEY=${secret}`]: 'x' } }],
    ['/v1/exec', { command: 'id', env: { KEY: [secret] } }],
    ['/v1/exec', { command: [secret, 5] }],
    ['/v1/exec', { command: 'id', stdin: { [secret]: 1 } }],
    ['/v1/sandboxes', { local: { env: secret } }],
    ['/v1/sandboxes', { workspace: { env: secret } }],
    ['/v1/sessions', { agent: 'demo', env: secret }],
    ['/v1/sessions', { agent: 'demo', credentials: secret }],
    ['/v1/sessions', { agent: 'demo', credentials: { KEY: { value: secret } } }],
    ['/v1/sessions', { agent: 'demo', modelEndpoint: secret }],
    ['/v1/sessions', { agent: 'demo', modelEndpoint: { url: `ftp://user:${secret}@host/`, key: 'x' } }],
    ['/v1/sessions', { agent: 'demo', modelEndpoint: { url: 'http://host/', key: [secret] } }],
    ['/v1/sessions', { agent: 'demo', mcpServers: secret }],
    ['/v1/sessions', { agent: 'demo', mcpServers: [{ name: 'x', type: 'http', url: 'x', headers: secret }] }],
    ['/v1/sessions/x/prompt', { prompt: { text: secret } }],
  ])('does not repeat its value: %s %j', async (path, body) => {
    expect(await refused('POST', path, jsonBody(body))).not.toContain(secret)
  })

  it.each([`{"env":{"KEY":"${secret}"`, secret, `KEY=${secret}`, `"${secret}`, `{"a":"${secret}\n"}`])(
    'does not repeat a body that is not JSON: %j',
    async (body) => {
      const headers = { 'content-type': 'application/json' }
      expect(await refused('POST', '/v1/exec', { body, headers })).not.toContain(secret)
      const options = encodeURIComponent(body)
      expect(await refused('POST', `/v1/exec/input?options=${options}`)).not.toContain(secret)
    },
  )

  it.each([
    ['authorization', `Bearer ${secret}`],
    ['authorization', `Basic ${secret}`],
    ['vitrine-call', `${secret} with a space`],
    ['vitrine-actor', `%zz${secret}`],
    ['host', `user:${secret}@localhost`],
  ])('does not repeat the header %s', async (name, value) => {
    const own = name === 'authorization' ? '' : `authorization: Bearer ${token}\r\n`
    const host = name === 'host' ? '' : 'host: localhost\r\n'
    const body = '{"command":"id"}'
    const head = `POST /v1/exec HTTP/1.1\r\n${host}${own}${name}: ${value}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
    const response = await say(daemon.port, head, body)
    expect(response.status).toBeGreaterThanOrEqual(400)
    expect(response.body).not.toContain(secret)
  })

  it('does not repeat it in process either', async () => {
    const sandbox = await daemon.host.find(daemon.sandbox)
    const wrong: object[] = [
      { env: secret },
      { env: { [`KEY=${secret}`]: 1 } },
      { env: { [`KEY=${secret}`]: 'x' } },
    ]
    for (const options of wrong) {
      const error = await sandbox.exec('true', options).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(Error)
      expect(JSON.stringify([String(error), error])).not.toContain(secret)
    }
  })
})

describe('an error about another field', () => {
  const paths = (value: string) => [
    `/v1/sandboxes/${value}`,
    `/v1/no/such/${value}`,
    `/v1/files/content?path=${value}`,
    `/v1/events?at=${value}`,
    `/v1/processes/${value}`,
    `/v1/sessions/${value}`,
    `/v1/files/list?path=.&limit=${value}`,
    `/v1/files/list?${value}=1`,
  ]

  it('masks registered secrets and known forms of tokens', async () => {
    daemon.host.store.addSecret('PASSWORD', secret)
    const known = `ghp_${'a1B2c3D4e5'.repeat(3)}f6G7h8`
    for (const value of [secret, known]) {
      for (const path of paths(value)) expect(await refused('GET', path), path).not.toContain(value)
      const body = jsonBody({ command: 'id', cwd: value, user: value })
      expect(await refused('POST', '/v1/exec', body)).not.toContain(value)
    }
    expect(await refused('GET', `/v1/sandboxes/${secret}`)).toContain('[redacted:PASSWORD]')
  })

  it('shows the value, cut at 200 characters', async () => {
    const long = 'x'.repeat(1_000)
    expect(await refused('GET', '/v1/events?at=soon')).toContain('soon')
    expect(await refused('GET', '/v1/no/such/route')).toContain('/v1/no/such/route')
    for (const path of paths(long)) {
      const shown = /x+/.exec((await refused('GET', path)).replaceAll('expected', ''))?.[0] ?? ''
      expect(shown.length, path).toBeLessThanOrEqual(200)
    }
  })
})
