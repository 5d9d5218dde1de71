import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toProblem, VitrineError } from '@vitrine/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDaemon } from '../daemon.ts'
import { checkedFetch } from './checked-fetch.ts'

interface Sent {
  readonly status?: number
  readonly type?: string
  readonly body?: string
  /** In pieces, without a length. */
  readonly isStream?: true
}

/** Fetches from a daemon that sends exactly this response. */
async function read(
  method: string,
  path: string,
  { status = 200, type, body = '', isStream }: Sent,
): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { ...(type && { 'content-type': type }) })
    if (isStream) response.write(body.slice(0, 10))
    response.end(isStream ? body.slice(10) : body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return (await checkedFetch(`http://127.0.0.1:${port}${path}`, { method })).text()
}

const json = (value: unknown, status = 200): Sent => ({
  status,
  type: 'application/json',
  body: JSON.stringify(value),
})
const problem = toProblem(new VitrineError('not_found', 'There is none.'))
const stat = { path: 'a', kind: 'file', size: 1, mode: 420, modifiedAt: '2026-01-01T00:00:00.000Z' }

describe('A request of the tests', () => {
  it('returns a response that matches the contract', async () => {
    expect(await read('GET', '/v1/files/stat', json(stat))).toBe(JSON.stringify(stat))
    expect(await read('DELETE', '/v1/sandboxes/x', { status: 204 })).toBe('')
    const problems = { status: 404, type: 'application/problem+json', body: JSON.stringify(problem) }
    expect(await read('GET', '/v1/nowhere', problems)).toBe(JSON.stringify(problem))
  })

  it.each([
    ['a field of another type', 'GET', '/v1/files/stat', json({ ...stat, size: '1' })],
    ['a field that is missing', 'GET', '/v1/files/stat', json({ ...stat, mode: undefined })],
    ['a field that is nowhere documented', 'GET', '/v1/files/stat', json({ ...stat, owner: 'root' })],
    [
      'such a field deep inside',
      'GET',
      '/v1/files/list',
      json({ entries: [{ ...stat, x: 1 }], truncated: false }),
    ],
    ['the schema of another status', 'POST', '/v1/sessions/x/prompt', json({ turn: 't' }, 200)],
    ['a status that the route does not have', 'POST', '/v1/sandboxes', json({}, 200)],
    ['JSON where nothing is due', 'DELETE', '/v1/sandboxes/x', json({})],
    ['success where there is no route', 'GET', '/v1/nowhere', json({})],
    ['bytes where JSON is due', 'GET', '/v1/health', { type: 'application/octet-stream', body: '{}' }],
    ['an error that is no problem', 'GET', '/v1/health', json({ error: 'no' }, 500)],
    [
      'a problem without a code',
      'GET',
      '/v1/health',
      {
        status: 404,
        type: 'application/problem+json',
        body: JSON.stringify({ ...problem, code: undefined }),
      },
    ],
    ['a wrong end of a slow response', 'POST', '/v1/exec', { ...json({ stdout: 'x' }), isStream: true }],
    ['a slow problem that is none', 'POST', '/v1/exec', { ...json({ ...problem, hint: 1 }), isStream: true }],
    [
      'a frame of another shape',
      'GET',
      '/v1/events',
      { type: 'text/event-stream', body: 'id: c\ndata: {"type":"no.such"}\n\n', isStream: true },
    ],
    [
      'a frame of a name that the stream does not have',
      'GET',
      '/v1/files/watch',
      { type: 'text/event-stream', body: 'event: gap\ndata: {}\n\n', isStream: true },
    ],
  ] satisfies [string, string, string, Sent][])('fails on %s', async (_what, method, path, sent) => {
    await expect(read(method, path, sent)).rejects.toMatchObject({ name: 'ContractError' })
  })

  it('fails on a daemon whose host adds a field that the contract does not have', async () => {
    await using daemon = await openDaemon()
    const list = daemon.host.list.bind(daemon.host)
    const info = daemon.host.info.bind(daemon.host)
    daemon.host.list = async () => (await list()).map((one) => ({ ...one, secret: 'x' }))
    daemon.host.info = (id) => {
      const known = info(id)
      return known && { ...known, ...{ secret: 'x' } }
    }
    await expect(daemon.call('GET', '/v1/sandboxes')).rejects.toThrow('"sandboxes.0.secret"')
    await expect(daemon.fetch(`/v1/sandboxes/${daemon.sandbox}`)).rejects.toThrow('"secret"')
  })
})
