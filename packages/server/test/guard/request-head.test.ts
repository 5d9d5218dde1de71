import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDaemon, type TestDaemon, token } from '../daemon.ts'
import { dial, readResponse, say } from '../raw.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
})
afterAll(async () => {
  expect((await daemon.fetch('/v1/health')).status).toBe(200)
  await daemon.close()
})

const authorization = `authorization: Bearer ${token}`

/** Sends a request and returns its problem, which must be a 400 that repeats nothing of the request. */
async function refusal(head: string): Promise<{ code: string; detail: string }> {
  const { status, headers, body } = await say(daemon.port, head)
  expect({ status, type: headers.get('content-type') }).toEqual({
    status: 400,
    type: 'application/problem+json',
  })
  expect(body).not.toContain('evil')
  expect(body).not.toContain(token)
  return JSON.parse(body)
}

describe('a request URL', () => {
  it.each([
    'http://localhost/v1/health',
    'https://localhost/v1/health',
    'HTTP://localhost/v1/health',
    'http://evil.example/v1/health',
    'http://user:password@localhost/v1/health',
    'http:/v1/health',
    'localhost:80',
    'v1/health',
    '*',
  ])('is refused if it is not a path: %s', async (target) => {
    const head = `GET ${target} HTTP/1.1\r\nhost: localhost\r\n${authorization}`
    // Node itself refuses what is neither a path nor an absolute URL.
    expect(['request_invalid', 'body_invalid']).toContain((await refusal(head)).code)
  })

  it.each(['/v1/\\health', '/v1/health#part', '/\\evil.example/'])(
    'is refused if it has characters that no path has: %s',
    async (target) => {
      const head = `GET ${target} HTTP/1.1\r\nhost: localhost\r\n${authorization}`
      expect(await refusal(head)).toMatchObject({
        code: 'request_invalid',
        detail: expect.stringContaining('Request URL: expected a path'),
      })
    },
  )

  it.each(['/ui/../v1/health', '/ui/%2e%2e/v1/health', '/ui/.%2E/v1/health', '/ui/%2e/../../v1/health'])(
    'is normalized before it is checked: %s',
    async (target) => {
      const without = await say(daemon.port, `GET ${target} HTTP/1.1\r\nhost: localhost`)
      expect(without.status).toBe(401)
      const head = `GET ${target} HTTP/1.1\r\nhost: localhost\r\n${authorization}`
      expect((await say(daemon.port, head)).status).toBe(200)
    },
  )

  it.each(['/v1/sandboxes/..%2f..%2fetc', '/v1/sandboxes/a%2fb/events', '/v1%2fhealth', '/v1/health%2f'])(
    'does not reach another route by an encoded slash: %s',
    async (target) => {
      const response = await say(daemon.port, `GET ${target} HTTP/1.1\r\nhost: localhost\r\n${authorization}`)
      expect(response.status).toBe(404)
    },
  )

  it('may contain dots within its parts', async () => {
    for (const part of ['..a', 'a..', '.hidden', 'a.b', '...']) {
      const response = await say(
        daemon.port,
        `GET /v1/sandboxes/${part} HTTP/1.1\r\nhost: localhost\r\n${authorization}`,
      )
      expect(response.status, part).toBe(404)
    }
  })
})

describe('a header that may occur once', () => {
  it.each([
    ['Host', 'host: localhost\r\nhost: evil.example', authorization],
    ['Host', 'host: evil.example\r\nHOST: localhost', authorization],
    ['Host', 'host: localhost\r\nhost: localhost', authorization],
    [
      'Origin',
      'host: localhost',
      `${authorization}\r\norigin: http://localhost\r\norigin: http://evil.example`,
    ],
    ['Content-Type', 'host: localhost', `${authorization}\r\ncontent-type: a/b\r\ncontent-type: evil/c`],
  ])('is refused if it occurs twice: %s', async (name, host, rest) => {
    expect(await refusal(`GET /v1/health HTTP/1.1\r\n${host}\r\n${rest}`)).toMatchObject({
      code: 'request_invalid',
      detail: `${name}: expected one header, got several.`,
    })
  })

  it.each([
    `${authorization}\r\n${authorization}`,
    `authorization: Bearer evil-token\r\n${authorization}`,
    `${authorization}\r\nAuthorization: Basic evil`,
    `${authorization}\r\nauthorization: `,
  ])('gives no access if it occurs twice: Authorization', async (both) => {
    const response = await say(daemon.port, `GET /v1/health HTTP/1.1\r\nhost: localhost\r\n${both}`)
    expect(response.status).toBe(401)
    expect(JSON.parse(response.body)).toMatchObject({ code: 'token_invalid' })
    expect(response.body).not.toContain(token)
  })

  it('is refused twice for a WebSocket and for a page too', async () => {
    const socket = 'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13'
    const key = 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='
    for (const head of [
      `GET /v1/processes/x/terminal/ws HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n${socket}\r\n${key}\r\n${authorization}`,
      `GET http://localhost/v1/processes/x/terminal/ws HTTP/1.1\r\nhost: localhost\r\n${socket}\r\n${key}\r\n${authorization}`,
      'GET /ui/ HTTP/1.1\r\nhost: localhost\r\nhost: evil.example',
    ]) {
      using connection = await dial(daemon.port, `${head}\r\n\r\n`)
      await expect.poll(() => connection.text).toContain('request_invalid')
      expect(readResponse(connection.text).status).toBe(400)
      expect(connection.text).not.toContain('evil.example')
    }
  })
})

describe('framing that two servers could read differently', () => {
  it.each([
    ['a folded header', 'x-folded: one\r\n two'],
    ['a folded header with a tab', 'x-folded: one\r\n\ttwo'],
    ['a space before the colon', 'x-spaced : one'],
    ['a length and chunks', 'content-length: 5\r\ntransfer-encoding: chunked'],
    ['chunks and a length', 'transfer-encoding: chunked\r\ncontent-length: 5'],
    ['two lengths', 'content-length: 5\r\ncontent-length: 6'],
    ['a length with a sign', 'content-length: +5'],
    ['a list of lengths', 'content-length: 5, 5'],
    ['an unknown coding', 'transfer-encoding: chunked, identity'],
  ])('is refused: %s', async (_what, header) => {
    using connection = await dial(
      daemon.port,
      `POST /v1/exec HTTP/1.1\r\nhost: localhost\r\n${authorization}\r\n${header}\r\n\r\n0\r\n\r\n`,
    )
    const { status, body } = readResponse(await connection.ended)
    expect(status).toBe(400)
    expect(JSON.parse(body)).toMatchObject({ code: 'body_invalid' })
  })
})
