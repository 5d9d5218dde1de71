import { mkdtempSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { EngineSandbox } from '../../src/engine-sandbox.ts'
import { type Host, type HostSandbox, openHost } from '../../src/index.ts'
import { dataFolder, open } from '../fixtures/data.ts'

const local = { isolation: 'none' } as const
/** No life time of these tests ends by itself. */
const idleStopMs = 3_600_000

const echo = { name: 'echo', onPrompt: (prompt: string) => [prompt] }

/** The sandbox with the call that its host makes when it is due. */
async function create(host: Host, id: string): Promise<EngineSandbox> {
  return (await host.create({ id, local, idleStopMs })) as EngineSandbox
}

async function states(sandbox: HostSandbox): Promise<string[]> {
  const { events } = await sandbox.journal.read({
    types: ['sandbox.ready', 'sandbox.stopped', 'sandbox.destroyed'],
  })
  return events.map(({ type }) => type.slice('sandbox.'.length))
}

const data = mkdtempSync('/var/tmp/vitrine-races-')
let host: Host
beforeAll(async () => {
  host = await openHost({ data, install: 'never', agents: [echo] })
})
afterAll(async () => {
  await host.close()
  rmSync(data, { recursive: true, force: true })
})

it('a call that begins before an idle stop prevents it, although its journal does not show the call yet', async () => {
  const sandbox = await create(host, 'before')
  const session = await sandbox.openSession({ agent: 'echo' })
  const calls: (() => Promise<unknown>)[] = [
    () => sandbox.exec('true'),
    () => sandbox.as({ actor: 'ann' }).files.write('a', 'a'),
    () => sandbox.openSession({ agent: 'echo' }),
    () => session.prompt('hello'),
  ]
  for (const call of calls) {
    const calling = call()
    expect([String(call), await sandbox.autoStop('idle')]).toEqual([String(call), false])
    await calling
  }
  expect(await states(sandbox)).toEqual(['ready'])
})

it('a call that begins during an idle stop waits for it, starts the sandbox again and succeeds', async () => {
  const sandbox = await create(host, 'during')
  const stopping = sandbox.autoStop('idle')
  const [first, second] = await Promise.all([
    sandbox.exec('echo one'),
    sandbox.as({ run: 'r' }).exec('echo two'),
  ])
  expect([first.stdout, second.stdout, await stopping]).toEqual(['one\n', 'two\n', true])
  expect(await states(sandbox)).toEqual(['ready', 'stopped', 'ready'])
})

it('a prompt that begins during an idle stop is refused, and its session can be resumed', async () => {
  const sandbox = await create(host, 'prompted')
  const session = await sandbox.openSession({ agent: 'echo' })
  const stopping = sandbox.autoStop('idle')
  await expect(session.prompt('late')).rejects.toMatchObject({ code: 'session_closed' })
  await stopping
  const resumed = await sandbox.sessions.resume(session.id)
  expect(await resumed.prompt('again')).toMatchObject({ outcome: 'ok' })
})

it('a start, a stop and an attach of its owner during an idle stop have their effect', async () => {
  const sandbox = await create(host, 'owned')
  let stopping = sandbox.autoStop('idle')
  await sandbox.lifecycle.start()
  expect(host.info('owned')?.state).toBe('running')
  await stopping
  stopping = sandbox.autoStop('idle')
  await (await host.attach('owned')).exec('true')
  await stopping
  expect(host.info('owned')?.state).toBe('running')
  stopping = sandbox.autoStop('idle')
  await Promise.all([sandbox.lifecycle.stop(), stopping])
  await expect(sandbox.exec('true')).rejects.toMatchObject({ code: 'sandbox_not_running' })
})

it('a read over HTTP without `vitrine-start` does not start a sandbox that its host has stopped', async () => {
  const sandbox = await create(host, 'looked-at')
  await sandbox.autoStop('idle')
  await expect(host.findStarted('looked-at')).rejects.toMatchObject({ code: 'sandbox_not_running' })
  expect(await (await host.find('looked-at')).lifecycle.running()).toBe(false)
  expect(host.info('looked-at')?.state).toBe('stopped')
})

it('a function before the stop may call the sandbox, and one that fails stops it all the same', async () => {
  const sandbox = await create(host, 'hooked')
  await sandbox.lifecycle.onBeforeStop(async () => {
    await sandbox.files.write('saved.txt', (await sandbox.exec('echo saved')).stdout)
  })
  expect(await sandbox.autoStop('idle')).toBe(true)
  expect((await sandbox.exec('cat saved.txt')).stdout).toBe('saved\n')
  await sandbox.lifecycle.onBeforeStop(() => Promise.reject(new Error('disk full')))
  await expect(sandbox.autoStop('idle')).rejects.toThrow('disk full')
  expect(host.info('hooked')?.state).toBe('stopped')
  expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
})

it('a paused sandbox is stopped after its age with its hooks, and can be persisted after that', async () => {
  const sandbox = await create(host, 'paused')
  await sandbox.lifecycle.onBeforeStop('echo saved > saved.txt')
  await sandbox.lifecycle.pause()
  await sandbox.autoStop('max_age')
  expect((await sandbox.exec('cat saved.txt')).stdout).toBe('saved\n')
  const { events } = await sandbox.journal.read({ types: ['sandbox.stopped'] })
  expect(events.map(({ data }) => data)).toEqual([{ reason: 'max_age' }])
})

it('a destroy during an idle stop destroys the sandbox', async () => {
  const sandbox = await create(host, 'destroyed')
  const stopping = sandbox.autoStop('idle')
  const late = sandbox.exec('true')
  await Promise.all([host.destroy('destroyed'), stopping, late.catch(() => undefined)])
  expect(host.info('destroyed')?.state).toBe('destroyed')
  expect((await states(sandbox)).at(-1)).toBe('destroyed')
  await expect(sandbox.exec('true')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
})

it('a host that closes during an idle stop leaves no work open', async () => {
  const data = dataFolder()
  const closing = await open(data)
  const sandbox = await create(closing, 'closing')
  const stopping = sandbox.autoStop('idle').catch(() => undefined)
  const late = sandbox.exec('sleep 1000').catch((error: unknown) => error)
  await Promise.all([closing.close(), stopping])
  await late
  const next = await open(data)
  const { events } = await (await next.look('closing')).journal.read({
    types: ['operation.*', 'journal.recovered'],
  })
  const of = (type: string) => events.filter((event) => event.type === type).length
  expect(of('operation.started')).toBe(of('operation.finished'))
  expect(of('journal.recovered')).toBe(0)
})
