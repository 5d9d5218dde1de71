import { createServer as createTcpServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, jsonBody, openDaemon, problemOf, readToken, type TestDaemon } from '../daemon.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
})
afterAll(() => daemon.close())

const local = { isolation: 'none' }
const create = (body: object) => daemon.call('POST', '/v1/sandboxes', { local, ...body })
const problemFor = async (method: string, path: string, body?: object) =>
  problemOf(await daemon.fetch(path, { method, ...(body && jsonBody(body)) }))

describe('a sandbox', () => {
  it('is created with labels and a workspace, listed and shown', async () => {
    const response = await daemon.fetch('/v1/sandboxes', {
      method: 'POST',
      ...jsonBody({
        id: 'made-here',
        labels: { team: 'red' },
        local,
        workspace: { files: { 'hello.txt': 'hi' } },
      }),
    })
    expect(response.status).toBe(201)
    expect(await response.json()).toMatchObject({
      id: 'made-here',
      provider: 'local',
      state: 'running',
      labels: { team: 'red' },
      root: expect.stringMatching(/^\//),
      capabilities: { killTree: expect.any(String) },
    })
    const { sandboxes, default: own } = await daemon.call('GET', '/v1/sandboxes')
    expect(own).toBe(daemon.sandbox)
    expect(sandboxes.map(({ id }: { id: string }) => id).sort()).toEqual(['made-here', daemon.sandbox].sort())
    const shown = await daemon.fetch('/v1/sandboxes/made-here', { headers: bearer(readToken) })
    expect(await shown.json()).toMatchObject({ id: 'made-here', state: 'running' })
    const read = await daemon.fetch('/v1/sandboxes/made-here/files/content?path=hello.txt')
    expect(await read.text()).toBe('hi')
    expect(await daemon.call('GET', '/v1/files/exists?path=hello.txt')).toEqual({ exists: false })
  })

  it('refuses commands of ask rules, because no one answers over HTTP', async () => {
    const { id } = await create({ policy: { allow: ['echo *'], ask: ['touch *'], otherwise: 'deny' } })
    const run = (command: string) => problemFor('POST', `/v1/sandboxes/${id}/exec`, { command })
    expect(await daemon.call('POST', `/v1/sandboxes/${id}/exec`, { command: 'echo hi' })).toMatchObject({
      stdout: 'hi\n',
    })
    expect((await run('touch file')).detail).toContain('the ask rule "touch *"')
    expect((await run('ls')).detail).toContain('matches no rule')
  })

  it('is refused when its id exists or its options are invalid', async () => {
    await create({ id: 'taken' })
    for (const [body, status] of [
      [{ id: 'taken' }, 409],
      [{ provider: 'moon' }, 400],
      [{ local: { isolation: 'magic' } }, 400],
      [{ local: [] }, 400],
      [{ workspace: { files: 5 } }, 400],
      [{ workspace: 'text' }, 400],
      [{ labels: { a: 1 } }, 400],
      [{ unknown: true }, 400],
    ] as const) {
      const problem = await problemFor('POST', '/v1/sandboxes', body)
      expect(problem.status, `${JSON.stringify(body)} ${problem.detail}`).toBe(status)
    }
  })

  it('is stopped, and started again with its workspace', async () => {
    await create({ id: 'sleeper' })
    await daemon.fetch('/v1/sandboxes/sleeper/files/content?path=kept.txt', { method: 'PUT', body: 'kept' })
    expect(await daemon.call('GET', '/v1/sandboxes/sleeper/running')).toEqual({ running: true })
    await daemon.call('POST', '/v1/sandboxes/sleeper/before-stop', { command: 'echo hooked > hook.txt' })
    expect(await daemon.call('POST', '/v1/sandboxes/sleeper/stop')).toMatchObject({ state: 'stopped' })
    expect(await daemon.call('GET', '/v1/sandboxes/sleeper')).toMatchObject({ state: 'stopped' })
    expect(await daemon.call('GET', '/v1/sandboxes/sleeper/running')).toEqual({ running: false })
    const asleep = await problemFor('POST', '/v1/sandboxes/sleeper/exec', { command: 'true' })
    expect(asleep).toMatchObject({ status: 409, code: 'sandbox_not_running' })
    expect(await daemon.call('POST', '/v1/sandboxes/sleeper/start')).toMatchObject({ state: 'running' })
    const { stdout } = await daemon.call('POST', '/v1/sandboxes/sleeper/exec', { command: 'cat *.txt' })
    expect(stdout).toBe('hooked\nkept')
    expect(await daemon.call('POST', '/v1/sandboxes/sleeper/shutdown')).toMatchObject({ state: 'stopped' })
    expect(await daemon.call('POST', '/v1/sandboxes/sleeper/attach')).toMatchObject({ state: 'running' })
  })

  it('is paused and resumed', async () => {
    await create({ id: 'pauser' })
    const { id } = await daemon.call('POST', '/v1/sandboxes/pauser/processes', { command: 'cat' })
    expect(await daemon.call('POST', '/v1/sandboxes/pauser/pause')).toMatchObject({ id: 'pauser' })
    const refused = await problemFor('POST', '/v1/sandboxes/pauser/exec', { command: 'true' })
    expect(refused).toMatchObject({ status: 409, code: 'sandbox_paused' })
    await daemon.call('POST', '/v1/sandboxes/pauser/resume')
    expect(await daemon.call('GET', `/v1/sandboxes/pauser/processes/${id}`)).toMatchObject({
      state: 'running',
    })
    expect(await daemon.call('POST', '/v1/sandboxes/pauser/exec', { command: 'echo on' })).toMatchObject({
      stdout: 'on\n',
    })
  })

  it('shows its disk space where that is asked for', async () => {
    await create({ id: 'measured' })
    await daemon.call('POST', '/v1/sandboxes/measured/stop')
    expect(await daemon.call('GET', '/v1/sandboxes/measured')).not.toHaveProperty('diskBytes')
    expect(await daemon.call('GET', '/v1/sandboxes/measured?disk=true')).toMatchObject({
      state: 'stopped',
      diskBytes: expect.any(Number),
    })
  })

  it('is destroyed permanently, and its journal stays', async () => {
    await create({ id: 'gone' })
    await daemon.call('DELETE', '/v1/sandboxes/gone')
    await daemon.call('DELETE', '/v1/sandboxes/gone')
    expect(await daemon.call('GET', '/v1/sandboxes/gone')).toMatchObject({ state: 'destroyed' })
    for (const [method, path, body] of [
      ['POST', '/attach'],
      ['POST', '/start'],
      ['POST', '/stop'],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['POST', '/shutdown'],
      ['POST', '/exec', { command: 'true' }],
      ['GET', '/processes?live=true'],
      ['GET', '/files/list?path=.'],
      ['POST', '/sessions', { agent: 'demo' }],
      ['GET', '/ports?live=true'],
    ] as const) {
      const problem = await problemFor(method, `/v1/sandboxes/gone${path}`, body)
      expect(problem, `${method} ${path}`).toMatchObject({ status: 410, code: 'sandbox_destroyed' })
    }
    expect(await daemon.call('GET', '/v1/sandboxes/gone/processes')).toEqual({ processes: [] })
    expect(await daemon.call('GET', '/v1/sandboxes/gone/sessions')).toEqual({ sessions: [] })
    expect(await daemon.call('GET', '/v1/sandboxes/gone/ports')).toEqual({ ports: [] })
    const { events } = await daemon.call('GET', '/v1/sandboxes/gone/events?types=sandbox.destroyed')
    expect(events).toHaveLength(1)
    expect((await problemFor('POST', '/v1/sandboxes', { id: 'gone' })).code).toBe('sandbox_exists')
  })

  it('a sandbox that is unknown gives not_found on every route', async () => {
    for (const [method, path, body] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/attach'],
      ['POST', '/start'],
      ['POST', '/stop'],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['POST', '/shutdown'],
      ['GET', '/running'],
      ['POST', '/exec', { command: 'true' }],
      ['GET', '/processes'],
      ['GET', '/files/list?path=.'],
      ['GET', '/sessions'],
      ['GET', '/sessions/x/transcript'],
      ['GET', '/events'],
      ['GET', '/events/summary'],
      ['POST', '/events', { events: [] }],
      ['GET', '/workspace'],
      ['GET', '/ports'],
    ] as const) {
      const problem = await problemFor(method, `/v1/sandboxes/nobody${path}`, body)
      expect(problem, `${method} ${path}`).toMatchObject({ status: 404, code: 'not_found' })
    }
    expect((await daemon.host.list()).some(({ id }) => id === 'nobody')).toBe(false)
    expect(await daemon.host.store.journals()).not.toContain('nobody')
  })

  it('resolves the addresses of its ports, and waits for one', async () => {
    const word = await problemFor('GET', '/v1/ports/web')
    expect(word.detail).toBe('port: expected a whole number from 1 to 65535, got "web".')
    const closed = await problemFor('GET', '/v1/ports/1')
    expect(closed).toMatchObject({ status: 404, code: 'port_unavailable' })
    const late = await problemFor('GET', '/v1/ports/1?wait=100')
    expect([404, 504]).toContain(late.status)
    const port = await freePort()
    const waiting = daemon.call('GET', `/v1/ports/${port}?wait=20000`)
    const { id } = await daemon.call('POST', '/v1/processes', {
      command: process.execPath,
      args: ['-e', `require('net').createServer().listen(${port}, '127.0.0.1')`],
    })
    const found = await waiting
    expect(found).toMatchObject({ port: expect.any(Number), url: expect.stringContaining('http') })
    const { ports } = await daemon.call('GET', '/v1/ports')
    expect(ports.some((one: { port: number }) => one.port === port)).toBe(true)
    await daemon.call('POST', `/v1/processes/${id}/kill`)
  })
})

describe('the default sandbox', () => {
  it('is created once, on first use', async () => {
    await using fresh = await openDaemon({
      defaultSandbox: { id: 'made-late', local: { isolation: 'none' } },
    })
    const responses = await Promise.all(
      [1, 2, 3, 4].map((at) => fresh.call('POST', '/v1/exec', { command: `echo ${at}` })),
    )
    expect(responses.map(({ stdout }) => stdout)).toEqual(['1\n', '2\n', '3\n', '4\n'])
    expect(await fresh.host.list()).toHaveLength(1)
    await fresh.call('POST', '/v1/sandboxes/made-late/stop')
    expect((await problemOf(await fresh.fetch('/v1/files/list?path=.'))).code).toBe('sandbox_not_running')
    await fresh.call('DELETE', '/v1/sandboxes/made-late')
    expect((await problemOf(await fresh.fetch('/v1/files/list?path=.'))).code).toBe('sandbox_destroyed')
  })
})

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
