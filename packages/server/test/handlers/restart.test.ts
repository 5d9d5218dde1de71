import { rmSync } from 'node:fs'
import { local } from '@vitrine/host'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type DaemonOptions,
  dataFolder,
  jsonBody,
  openDaemon,
  problemOf,
  type TestDaemon,
} from '../daemon.ts'

const none = { isolation: 'none' }

async function opened(options: DaemonOptions): Promise<TestDaemon> {
  const daemon = await openDaemon(options)
  onTestFinished(() => daemon.close())
  return daemon
}

function folder(): string {
  const data = dataFolder()
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  return data
}

async function problemFor(daemon: TestDaemon, path: string, body: object) {
  return problemOf(await daemon.fetch(path, { method: 'POST', ...jsonBody(body) }))
}

describe('a sandbox after a restart of its daemon', () => {
  it('has its policy, hooks and skipped paths, whichever call starts it', async () => {
    const data = folder()
    const first = await openDaemon({ data })
    const policy = { ask: ['mkdir *'], deny: ['touch *'], otherwise: 'allow' }
    await first.call('POST', '/v1/sandboxes', { id: 'one', local: none, policy })
    await first.call('POST', '/v1/sandboxes/one/before-stop', { command: 'ln -s saved link' })
    await first.call('POST', '/v1/sandboxes/one/skip-on-persist', { path: 'cache' })
    await first.close()

    const second = await opened({ data, host: { providers: [local({ network: 'host' })] } })
    const run = (command: string) => problemFor(second, '/v1/sandboxes/one/exec', { command })
    expect(await run('touch x')).toMatchObject({ status: 403, code: 'gate_refused' })
    expect(await run('mkdir x')).toMatchObject({ status: 403, code: 'gate_refused' })
    await second.call('POST', '/v1/sandboxes/one/stop')
    await second.call('POST', '/v1/sandboxes/one/attach')
    const { stdout } = await second.call('POST', '/v1/sandboxes/one/exec', { command: 'readlink link' })
    expect(stdout).toBe('saved\n')
    await second.fetch('/v1/sandboxes/one/workspace').then((response) => response.arrayBuffer())
    const { events } = await second.call('GET', '/v1/sandboxes/one/events?types=operation.started')
    const persisted = events.findLast(
      ({ data }: { data: { op: string; skip?: string[] } }) => data.op === 'persist_workspace',
    )
    expect(persisted.data.skip).toEqual(['cache'])
  })

  it('gets another policy if an attach gives it, and refuses it while it runs', async () => {
    const data = folder()
    const first = await openDaemon({ data })
    const policy = { deny: ['touch *'], otherwise: 'allow' }
    await first.call('POST', '/v1/sandboxes', { id: 'one', local: none, policy })
    const other = { policy: { deny: ['rm *'], otherwise: 'allow' } }
    expect(await problemFor(first, '/v1/sandboxes/one/attach', other)).toMatchObject({
      status: 409,
      code: 'sandbox_running',
    })
    await first.close()
    const second = await opened({ data })
    await second.call('POST', '/v1/sandboxes/one/attach', other)
    await second.call('POST', '/v1/sandboxes/one/exec', { command: 'touch x' })
    expect(await problemFor(second, '/v1/sandboxes/one/exec', { command: 'rm x' })).toMatchObject({
      code: 'gate_refused',
    })
  })

  it('is refused if a function is missing, and others start', async () => {
    const data = folder()
    const first = await openDaemon({ data })
    const sandbox = await first.host.create({ id: 'one', local: { isolation: 'none' } })
    await sandbox.lifecycle.onBeforeStop(() => undefined)
    await first.close()
    const second = await opened({ data })
    expect(await problemFor(second, '/v1/sandboxes/one/exec', { command: 'true' })).toMatchObject({
      status: 409,
      code: 'attach_incomplete',
      detail: expect.stringContaining('hooks.beforeStop'),
    })
    const given = { hooks: { beforeStop: ['true'] } }
    expect(await second.call('POST', '/v1/sandboxes/one/attach', given)).toMatchObject({ state: 'running' })
  })
})

describe('a daemon with a floor', () => {
  it('refuses sandboxes below it, whoever asks', async () => {
    const daemon = await opened({
      host: { floor: { isolation: 'bubblewrap' } },
      defaultSandbox: { id: 'mine' },
    })
    for (const options of [none, { isolation: 'none', user: 'root' }, { user: 'root' }])
      expect(await problemFor(daemon, '/v1/sandboxes', { local: options })).toMatchObject({
        status: 403,
        code: 'below_floor',
      })
    expect(await daemon.call('POST', '/v1/sandboxes', { local: { isolation: 'auto' } })).toMatchObject({
      capabilities: { isolation: 'namespaces' },
    })
  })
})

describe('a label that is reserved', () => {
  it('is refused, so that no caller makes a sandbox the default one', async () => {
    const daemon = await opened({})
    const { default: before } = await daemon.call('GET', '/v1/sandboxes')
    const labels = { 'vitrine.default': 'none ' }
    expect(await problemFor(daemon, '/v1/sandboxes', { local: none, labels })).toMatchObject({
      status: 400,
      detail: expect.stringContaining('reserved'),
    })
    const { sandboxes, default: after } = await daemon.call('GET', '/v1/sandboxes')
    expect([after, sandboxes.length]).toEqual([before, 1])
  })
})
