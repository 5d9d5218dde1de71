import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonBody, openDaemon, problemOf, type TestDaemon } from '../daemon.ts'
import { say } from '../raw.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon({ limits: { jsonBytes: 4_096 } })
})
afterAll(async () => {
  expect((await daemon.fetch('/v1/health')).status).toBe(200)
  await daemon.close()
})

const send = async (method: string, path: string, init: RequestInit = {}) =>
  problemOf(await daemon.fetch(path, { method, ...init }))

describe('a body', () => {
  it.each(['{', '{"command":', 'true false', '\u0000', "{'command':'id'}", '{"command":"id"}}', 'NaN'])(
    'a body that is not JSON is refused: %j',
    async (body) => {
      const headers = { 'content-type': 'application/json' }
      const problem = await send('POST', '/v1/exec', { body, headers })
      expect(problem).toMatchObject({
        status: 400,
        code: 'body_invalid',
        detail: 'body: expected valid JSON.',
      })
    },
  )

  it.each([
    [[]],
    [null],
    ['text'],
    [7],
    [{}],
    [{ command: 7 }],
    [{ command: [1] }],
    [{ command: 'id', timeoutMs: -1 }],
    [{ command: 'id', timeoutMs: '5' }],
    [{ command: 'id', timeoutMs: 2 ** 31 }],
    [{ command: 'id', env: { A: 1 } }],
    [{ command: 'id', stdinEncoding: 'latin1' }],
  ])('a body of the wrong shape is refused with the path of the field: %j', async (body) => {
    const problem = await send('POST', '/v1/exec', jsonBody(body))
    expect(problem).toMatchObject({ status: 400, code: 'argument_invalid' })
    expect(problem.detail).toMatch(/^body/)
  })

  it.each([
    ['/v1/exec', { command: 'id', timeout: 5 }, 'body: unknown key "timeout"; did you mean "timeoutMs"?'],
    [
      '/v1/exec',
      { command: 'id', timeoutMs: '5' },
      'body.timeoutMs: expected a number above 0, 2147483647 at most, got "5", a string; give it as a number.',
    ],
    ['/v1/exec', { command: 7 }, 'body.command: expected a string or an array, got a number.'],
    ['/v1/exec', { command: 'id', env: { TOKEN: 7 } }, 'body.env.TOKEN: expected a string, got a number.'],
    [
      '/v1/sessions',
      { agent: 'demo', permission: 'allow' },
      'body: unknown key "permission"; did you mean "permissions"?',
    ],
    [
      '/v1/sessions',
      { agent: 'demo', permissions: 'alow' },
      'body.permissions: expected "ask", "allow", "deny" or an object, got "alow", a string.',
    ],
    ['/v1/sandboxes', { workspce: {} }, 'body: unknown key "workspce"; did you mean "workspace"?'],
    [
      '/v1/sandboxes',
      { local: { memory: 512 } },
      'body.local: unknown key "memory"; did you mean "limits.memoryBytes"?',
    ],
    [
      '/v1/sandboxes',
      { workspace: { setup: [{ rum: 'x' }] } },
      'body.workspace.setup[0]: unknown key "rum"; did you mean "run"?',
    ],
    [
      '/v1/sandboxes',
      { policy: { asks: ['git *'] } },
      'body.policy: unknown key "asks"; did you mean "ask"?',
    ],
    ['/v1/sessions/some/prompt', { prompt: 42 }, 'body.prompt: expected a string or an array, got a number.'],
    ['/v1/sessions/some/prompt', {}, 'body.prompt: expected a string or an array, got nothing.'],
    ['/v1/files/mkdir', { path: 'a', parent: true }, 'body: unknown key "parent"; did you mean "parents"?'],
  ])('a body of %s is refused with a message: %j', async (path, body, detail) => {
    const problem = await send('POST', path, jsonBody(body))
    expect(problem).toMatchObject({ status: 400, code: 'argument_invalid' })
    expect(problem.detail).toContain(detail)
  })

  it('is required where the route needs it', async () => {
    expect(await send('POST', '/v1/exec')).toMatchObject({ status: 400, code: 'body_invalid' })
    expect(await send('POST', '/v1/sandboxes')).toMatchObject({ status: 400, code: 'body_invalid' })
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/jsonx'])(
    'a body of type %s is refused, because a form of another page could send it',
    async (type) => {
      const init = { body: '{"command":"id"}', headers: { 'content-type': type } }
      expect(await send('POST', '/v1/exec', init)).toMatchObject({
        status: 415,
        code: 'media_type_unsupported',
      })
    },
  )

  it('a body without a content-type is refused', async () => {
    const body = new Blob(['{"command":"id"}'])
    expect((await send('POST', '/v1/exec', { body })).status).toBe(415)
  })

  it('a body over the limit is refused by its content-length before it is read', async () => {
    const response = await say(
      daemon.port,
      `POST /v1/exec HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${daemon.token}\r\ncontent-type: application/json\r\ncontent-length: 999999999999`,
    )
    expect(response.status).toBe(413)
    expect(JSON.parse(response.body)).toMatchObject({ code: 'body_too_large', details: { limit: 4_096 } })
  })

  it('a body over the limit is refused while it is read if it has no content-length', async () => {
    let sent = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1_024
        controller.enqueue(new TextEncoder().encode('x'.repeat(1_024)))
      },
    })
    const headers = { 'content-type': 'application/json' }
    const problem = await send('POST', '/v1/exec', { body: endless, headers, duplex: 'half' } as RequestInit)
    expect(problem).toMatchObject({ status: 413, code: 'body_too_large' })
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  it('a body of exactly the limit is accepted', async () => {
    const body = `{"command":"true"${' '.repeat(4_096 - 18)}}`
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    const response = await daemon.fetch('/v1/exec', { method: 'POST', body, headers })
    expect(await response.json()).toMatchObject({ exitCode: 0 })
  })

  it('cannot pollute Object.prototype', async () => {
    const body = '{"__proto__":{"local":{}},"constructor":1,"id":"polluted"}'
    const headers = { 'content-type': 'application/json' }
    const problem = await send('POST', '/v1/sandboxes', { body, headers })
    expect(problem.status).toBe(400)
    expect(({} as { local?: unknown }).local).toBeUndefined()
  })
})

describe('a query', () => {
  it.each([
    ['/v1/files/list?path=.&limt=5', 'query: unknown key "limt"; did you mean "limit"?'],
    ['/v1/files/list?path=.&limit=five', 'query.limit: expected a whole number, as digits, got "five".'],
    ['/v1/events?type=file.*', 'query: unknown key "type"; did you mean "types"?'],
    ['/v1/running?wait=5', 'query: unknown key "wait". No keys are known here.'],
    ['/v1/health?access_token=x', 'query: unknown key "access_token".'],
    ['/v1/files/list', 'query.path: expected a string, got nothing.'],
  ])('a query with an unknown key is refused with the nearest known key: %s', async (path, detail) => {
    const problem = await send('GET', path)
    expect(problem).toMatchObject({ status: 400, code: 'argument_invalid' })
    expect(problem.detail).toContain(detail)
  })
})

describe('a URL', () => {
  it.each([
    '/v1',
    '/v1/',
    '/v2/health',
    '/v1/healthy',
    '/V1/health',
    '/v1//health',
    '/v1/sandboxes/x/y/z',
    '/etc/passwd',
  ])('a URL without a route is refused: %s', async (path) => {
    expect(await send('GET', path)).toMatchObject({ status: 404, code: 'route_unknown' })
  })

  it.each([
    ['POST', '/v1/health', 'GET'],
    ['DELETE', '/v1/exec', 'POST'],
    ['PATCH', '/v1/sandboxes', 'GET, POST'],
    ['PUT', '/v1/sandboxes/some/events', 'GET, POST'],
    ['OPTIONS', '/v1/health', 'GET'],
  ])('has a response with its allowed methods: %s %s', async (method, path, allowed) => {
    const response = await daemon.fetch(path, { method })
    expect(response.headers.get('allow')).toBe(allowed)
    expect(await problemOf(response)).toMatchObject({ status: 405, code: 'method_unknown' })
  })

  it.each([
    '/v1/sandboxes/%00',
    '/v1/sandboxes/%ff',
    '/v1/sandboxes/%',
    '/v1/sandboxes/..%2f..%2fetc',
    '/v1/sandboxes/%00/events',
    '/v1/sandboxes/%ff/events',
    '/v1/sandboxes/__proto__/events',
    '/v1/sandboxes/constructor',
    '/v1/processes/%00',
    '/v1/sessions/%00',
    '/v1/sessions/%e0%80',
    '/v1/agents/%00',
    '/v1/agents/__proto__',
    '/v1/blobs/%00',
    '/v1/blobs/..%2f..%2fstore',
    '/v1/ports/abc',
    '/v1/ports/-1',
    '/v1/ports/99999999',
    '/v1/ports/%00',
  ])('a URL with unusual bytes is a client error, never a server error: %s', async (path) => {
    const problem = await send('GET', path)
    expect(problem.status, JSON.stringify(problem)).toBeGreaterThanOrEqual(400)
    expect(problem.status, JSON.stringify(problem)).toBeLessThan(500)
  })

  it.each([
    'GET /v1/\\health',
    'GET v1/health',
    'GET //localhost/v1/health',
    'OPTIONS *',
    'GET http://',
    'GET ftp://localhost/v1/health',
  ])('a URL that cannot be parsed is refused with a message: %s', async (line) => {
    const response = await say(
      daemon.port,
      `${line} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${daemon.token}`,
    )
    expect(response.status).toBeGreaterThanOrEqual(400)
    expect(response.status).toBeLessThan(500)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
  })
})

describe('a header', () => {
  it.each(['vitrine-run', 'vitrine-actor', 'vitrine-turn', 'vitrine-session'])(
    'refuses a header that cannot be decoded: %s',
    async (name) => {
      const init = jsonBody({ command: 'true' })
      const headers = { ...init.headers, [name]: '%zz' }
      expect(await send('POST', '/v1/exec', { ...init, headers })).toMatchObject({
        status: 400,
        code: 'argument_invalid',
        detail: expect.stringContaining(name),
      })
    },
  )

  it('ignores a malformed traceparent header', async () => {
    const init = jsonBody({ command: 'true' })
    const headers = { ...init.headers, traceparent: 'garbage' }
    const response = await daemon.fetch('/v1/exec', { method: 'POST', ...init, headers })
    expect(await response.json()).toMatchObject({ exitCode: 0 })
  })

  it('a header over 16 KiB is refused', async () => {
    const response = await say(
      daemon.port,
      `GET /v1/health HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(20_000)}`,
    )
    expect(response.status).toBe(431)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
  })
})

describe('a query', () => {
  it.each([
    '/v1/events?limit=0',
    '/v1/events?limit=-1',
    '/v1/events?limit=ten',
    '/v1/events?limit=999999999999999',
    '/v1/events?limit=1e3',
    '/v1/events?at=nonsense',
    '/v1/events?at=-5',
    '/v1/events?at=NaN',
    '/v1/events?order=sideways',
    '/v1/events?scope=everything',
    '/v1/events?wait=soon',
    '/v1/events?after=garbage',
    '/v1/events?before=garbage',
    '/v1/events?after=%00',
    '/v1/events/summary?buckets=0',
    '/v1/events/summary?buckets=999999999999999',
    '/v1/files/content',
    '/v1/files/list?path=.&limit=many',
    '/v1/processes/some/logs?tail=x',
    '/v1/sessions/some/transcript?at=x',
  ])('a query with an invalid value is refused: %s', async (path) => {
    const problem = await send('GET', path)
    expect(problem.status).toBe(400)
    expect(['argument_invalid', 'cursor_invalid']).toContain(problem.code)
  })

  it('a query with a repeated name uses the first value', async () => {
    const page = await daemon.call('GET', '/v1/events?limit=1&limit=5')
    expect(page.events).toHaveLength(1)
    const path = '/v1/files/content?path=first.txt&path=second.txt'
    expect(await daemon.call('PUT', path)).toMatchObject({ path: expect.stringContaining('first.txt') })
    expect(await daemon.call('GET', '/v1/files/exists?path=second.txt')).toEqual({ exists: false })
  })
})
