import { rmSync } from 'node:fs'
import { pathsOf, type Route, routes } from '@vitrine/protocol/http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer } from '../../src/index.ts'
import {
  bearer,
  dataFolder,
  openDaemon,
  problemOf,
  type ResponseJson,
  readToken,
  type TestDaemon,
} from '../daemon.ts'
import { framesOf } from '../frames.ts'

const stopped = 'stopped-one'
const fullToken = 'a-full-token'
const tokens = [{ name: 'me', token: fullToken, access: 'full' as const }]

/** Values of the parameters of paths, as they are on record in the stopped sandbox. */
const known: Record<string, string> = { sandbox: stopped, session: 'talk', turn: 'hello', agent: 'demo' }

let daemon: TestDaemon
const data = dataFolder()
beforeAll(async () => {
  const first = await openDaemon({ data })
  await first.call('POST', '/v1/sandboxes', { id: stopped, local: { isolation: 'none' } })
  const at = `/v1/sandboxes/${stopped}`
  await first.call('POST', `${at}/sessions`, { agent: 'demo', id: 'talk' })
  await first.call('POST', `${at}/sessions/talk/prompt?wait=true`, { prompt: '/say hi', turn: 'hello' })
  const { id } = await first.call('POST', `${at}/processes`, { command: 'sh', args: ['-c', 'echo said'] })
  await first.call('GET', `${at}/processes/${id}?wait=20000`)
  await first.fetch(`${at}/files/content?path=a.txt`, { method: 'PUT', body: 'hi' })
  await first.call('POST', `${at}/files/flush`)
  const { files } = await first.call('GET', `${at}/files/changed`)
  Object.assign(known, { process: id, hash: files[0].after })
  await first.close()
  // Another host on the same data: nothing of the sandbox is in memory.
  daemon = await openDaemon({ data })
}, 60_000)
afterAll(async () => {
  await daemon.close()
  rmSync(data, { recursive: true, force: true })
})

/** Every route that a read token may use, in each of its forms. A new one is tested without being named here. */
const readRoutes = Object.entries<Route>(routes)
  .filter(([, { access }]) => access === 'read')
  .flatMap(([name, { path, scope, streams, response, method }]) => {
    const whole = scope === 'host' ? `/v1${path}` : `/v1/sandboxes/{sandbox}${path}`
    const isStream = response === 'event-stream'
    const forms = isStream ? [true] : streams ? [false, true] : [false]
    return forms.map((stream) => ({
      name,
      method,
      path: whole,
      stream,
      hasId: path.replace('{sandbox}', '').includes('{'),
    }))
  })

function fill(path: string, values: Record<string, string>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`Add a value for {${name}} to the known ones of this test.`)
    return encodeURIComponent(value)
  })
}

/** Of a stream, the first frame is read. */
async function get(path: string, stream = false): Promise<Response> {
  const accept: Record<string, string> = stream ? { accept: 'text/event-stream' } : {}
  const response = await daemon.fetch(path, { headers: { ...bearer(daemon.readToken), ...accept } })
  if (!stream || !response.ok) return response
  const frames = framesOf(response)
  await frames.next()
  await frames.return(undefined)
  return response
}

async function lastSeqOf(sandbox: string): Promise<number> {
  return (await daemon.host.store.journal(sandbox)).head.seq
}

describe('a sandbox that is stopped', () => {
  it.each(readRoutes)(
    'is not started by a read token on $method $path ($name, stream: $stream)',
    async (route) => {
      expect(route.method).toBe('GET')
      const before = await lastSeqOf(stopped)
      const response = await get(fill(route.path, known), route.stream)
      expect(response.status).toBe(200)
      expect(daemon.host.info(stopped)?.state).toBe('stopped')
      expect(await lastSeqOf(stopped)).toBe(before)
    },
  )

  it.each(readRoutes.filter(({ hasId }) => hasId))(
    'is not started by an unknown id, which is 404, on $path ($name, stream: $stream)',
    async (route) => {
      const unknown = Object.fromEntries(Object.keys(known).map((name) => [name, `no-${name}`]))
      const response = await get(fill(route.path, { ...unknown, sandbox: stopped }), route.stream)
      // The transcript of a session that never was is empty.
      if (route.name !== 'readTranscript') expect(await problemOf(response)).toMatchObject({ status: 404 })
      expect(daemon.host.info(stopped)?.state).toBe('stopped')
    },
  )

  it('has the sessions, processes, changed files and ports of its journal', async () => {
    const read = async (path: string): Promise<ResponseJson> =>
      (await get(`/v1/sandboxes/${stopped}${path}`)).json()
    expect(await read('/sessions')).toMatchObject({
      sessions: [
        {
          id: 'talk',
          agent: 'demo',
          state: 'closed',
          turns: 1,
          lastTurn: { id: 'hello' },
          activity: { outcome: 'ok' },
        },
      ],
    })
    expect(await read('/sessions/talk')).toMatchObject({ id: 'talk', permissions: [], questions: [] })
    expect(await read(`/processes/${known.process}`)).toMatchObject({
      argv: ['sh', '-c', 'echo said'],
      exitCode: 0,
    })
    expect((await read('/processes')).processes).toContainEqual(await read(`/processes/${known.process}`))
    expect(await read('/files/changed')).toMatchObject({ files: [{ path: 'a.txt', after: known.hash }] })
    expect(await read('/ports')).toEqual({ ports: [] })
  })

  it.each(['/processes', '/ports', '/processes/some', '/sessions', '/sessions/talk'])(
    'refuses a read token that wants %s as a call, and is not started',
    async (path) => {
      const response = await get(`/v1/sandboxes/${stopped}${path}?live=true`)
      expect(await problemOf(response)).toMatchObject({ status: 403, code: 'access_denied' })
      expect(daemon.host.info(stopped)?.state).toBe('stopped')
    },
  )
})

/** Every route of the table that is a GET, with full access. */
const getRoutes = Object.entries<Route>(routes)
  .filter(([, { method }]) => method === 'GET')
  .flatMap(([name, route]) =>
    pathsOf(route).map((path) => ({ name, path, isSocket: route.response === 'socket' })),
  )

describe('a sandbox that is stopped, looked at with full access', () => {
  it.each(getRoutes)('is not started by GET $path ($name)', async ({ path, isSocket }) => {
    const before = await lastSeqOf(stopped)
    // The default sandbox of this server is the stopped one, so that the short paths lead to it too.
    const server = createServer({ host: daemon.host, tokens, defaultSandbox: { id: stopped } })
    const statuses: number[] = []
    // A route refuses a query that it does not have, so that one of these is a call.
    for (const query of ['', '?path=a.txt', '?live=true']) {
      const address = `${daemon.url}${fill(path, { ...known, port: '1', turn: 'none' })}${query}`
      const abort = new AbortController()
      const headers = bearer(fullToken)
      const response = await server.fetch(new Request(address, { headers, signal: abort.signal }))
      statuses.push(response.status)
      abort.abort()
      await response.body?.cancel().catch(() => undefined)
    }
    if (!isSocket) expect(statuses.some((status) => status !== 400)).toBe(true)
    expect(statuses).not.toContain(500)
    expect(daemon.host.info(stopped)?.state).toBe('stopped')
    expect(await lastSeqOf(stopped)).toBe(before)
  })

  it('says that it does not run, and shows the output of its processes', async () => {
    const at = `/v1/sandboxes/${stopped}`
    expect(await daemon.call('GET', `${at}/running`)).toEqual({ running: false })
    const logs = `${at}/processes/${known.process}/logs`
    const { entries } = await daemon.call('GET', logs)
    expect(Buffer.from(entries[0].data, 'base64').toString()).toBe('said\n')
    const followed = framesOf(await daemon.fetch(`${logs}?follow=true`))
    const frames: unknown[] = []
    for await (const frame of followed) frames.push(frame)
    expect(JSON.stringify(frames)).toContain(entries[0].data)
    const unknown = await daemon.fetch(`${at}/processes/no-process/logs`)
    expect(await problemOf(unknown)).toMatchObject({ status: 404 })
    const files = await daemon.fetch(`${at}/files/content?path=a.txt`)
    expect(await problemOf(files)).toMatchObject({ status: 409, code: 'sandbox_not_running' })
    expect(daemon.host.info(stopped)?.state).toBe('stopped')
  })

  it('is started by a GET that says so, as the calls of a client do', async () => {
    const other = 'used-again'
    await daemon.host.create({ id: other, local: { isolation: 'none', watch: false } })
    await using handle = await daemon.host.find(other)
    await handle.files.write('a.txt', 'still there')
    await handle.close()
    const path = `/v1/sandboxes/${other}/files/content?path=a.txt`
    expect((await daemon.fetch(path)).status).toBe(409)
    const response = await daemon.fetch(path, { headers: { 'vitrine-start': 'true' } })
    expect(await response.text()).toBe('still there')
  })
})

describe('the default sandbox', () => {
  it('is not created by a read, and has nothing to read', async () => {
    const { host } = daemon
    const tokens = [{ name: 'viewer', token: readToken, access: 'read' as const }]
    const server = createServer({ host, tokens, defaultSandbox: { id: 'never-created' } })
    const read = async (path: string) =>
      (await server.fetch(new Request(`${daemon.url}/v1${path}`, { headers: bearer(readToken) }))).json()
    expect(await read('/sessions')).toEqual({ sessions: [] })
    expect(await read('/processes')).toEqual({ processes: [] })
    expect(await read('/ports')).toEqual({ ports: [] })
    expect(await read('/files/changed')).toEqual({ files: [], complete: true })
    expect(await read('/sessions/some')).toMatchObject({ status: 404, code: 'session_not_found' })
    expect(host.info('never-created')).toBeUndefined()
  })
})
