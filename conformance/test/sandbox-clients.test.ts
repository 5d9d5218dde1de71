import { inProcessSandboxClient } from '@vitrine/host'
import type { SandboxClient } from '@vitrine/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../src/waiting/within.ts'
import { InProcessDaemon } from './daemons.ts'

async function openDaemon(): Promise<InProcessDaemon> {
  const daemon = await InProcessDaemon.open()
  onTestFinished(() => daemon.close())
  return daemon
}

const clients: readonly [string, (daemon: InProcessDaemon) => SandboxClient][] = [
  ['a host', ({ host }) => host],
  ['a client over HTTP', ({ client }) => client],
]

describe.each(clients)('the sandboxes of %s', (_name, clientOf) => {
  const labels = { team: 'red, "and" blue', ünï: '1=2' }

  it('are listed by state, provider and labels, and none is started by that', async () => {
    const daemon = await openDaemon()
    const client = clientOf(daemon)
    const one = await client.create({ id: 'one', labels })
    await client.create({ id: 'two', labels: { team: 'green' } })
    await one.lifecycle.shutdown()
    const ids = async (filter = {}) => (await client.list(filter)).map(({ id }) => id).sort()
    expect(await ids()).toEqual(['one', 'two'])
    expect(await ids({ state: 'stopped' })).toEqual(['one'])
    expect(await ids({ state: 'running', provider: 'local' })).toEqual(['two'])
    expect(await ids({ provider: 'moon' })).toEqual([])
    expect(await ids({ labels })).toEqual(['one'])
    expect(await ids({ labels: { team: 'green', other: '' } })).toEqual([])
    expect(await ids({ labels: {} })).toEqual(['one', 'two'])
    expect(daemon.host.info('one')?.state).toBe('stopped')
  })

  it('are destroyed by id, once or again', async () => {
    const client = clientOf(await openDaemon())
    const sandbox = await client.create({ id: 'one' })
    await client.destroy('one')
    await client.destroy('one')
    expect(await client.list({ state: 'destroyed' })).toMatchObject([{ id: 'one', state: 'destroyed' }])
    await expect(sandbox.exec('true')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
    await expect(client.destroy('never')).rejects.toMatchObject({ code: 'not_found' })
  })

  it.each([
    [{ state: 'gone' }, 'state'],
    [{ labels: { team: 5 } }, 'labels'],
    [{ label: {} }, 'labels'],
  ])('refuse the filter %j by its name', async (filter, name) => {
    const client = clientOf(await openDaemon())
    await expect(client.list(filter as object)).rejects.toThrow(name)
  })
})

it('the sandboxes of a function take the options of every client, and refuse another provider', async () => {
  const client = inProcessSandboxClient({ workdir: 'function-', onPrompt: (prompt) => [prompt] })
  const sandbox = await client.create({
    id: 'mine',
    labels: { team: 'red' },
    env: { GREETING: 'hello' },
    workspace: { files: { 'a.txt': 'one' } },
  })
  expect((await sandbox.exec('printenv GREETING; cat a.txt')).stdout).toBe('hello\none')
  expect(await client.list({ labels: { team: 'red' } })).toMatchObject([{ id: 'mine' }])
  await expect(client.create({ provider: 'local' })).rejects.toMatchObject({
    code: 'unsupported',
    message: 'provider: the provider in-process does not take this option.',
  })
  await client.destroy('mine')
  expect(await client.list()).toEqual([])
})

it('the sandboxes of a function are listed and destroyed too', async () => {
  const client = inProcessSandboxClient({ onPrompt: (prompt) => [prompt] })
  const { id, provider } = await client.create()
  expect(provider).toBe('in-process')
  expect(await client.list({ state: 'running', provider })).toMatchObject([{ id, provider, labels: {} }])
  expect(await client.list({ state: 'stopped' })).toEqual([])
  await client.destroy(id)
  expect(await client.list()).toEqual([])
})

it('the sandboxes of a function have life times and are pruned too', async () => {
  const client = inProcessSandboxClient({ onPrompt: (prompt) => [prompt] })
  const idle = await client.create({ idleStopMs: 30 })
  const { id: active } = await client.create({ labels: { kept: 'yes' } })
  await eventually('the stop', async () => (await client.list({ state: 'stopped' })).length === 1)
  expect(await client.list({ state: 'stopped' })).toMatchObject([{ id: idle.id, idleStopMs: 30 }])
  expect((await client.prune({ stoppedMs: 0 })).sandboxes).toMatchObject([{ id: idle.id }])
  expect((await client.prune({ stoppedMs: 0 })).sandboxes).toEqual([])
  expect((await client.prune({ stoppedMs: 0, running: true })).sandboxes).toMatchObject([{ id: active }])
  expect(await client.list({ state: 'all' })).toEqual([])
})
