import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { eventually } from '../../../../conformance/src/waiting/within.ts'
import type { Host } from '../../src/index.ts'
import { dataFolder, open } from '../fixtures/data.ts'
import { survivors } from '../fixtures/survivors.ts'

const script = fileURLToPath(new URL('../fixtures/doomed-life.ts', import.meta.url))
const local = { isolation: 'none' } as const
const hour = 3_600_000

/** As if the sandbox had been created at that time. */
function createdAt(data: string, id: string, time: number): void {
  const path = join(data, 'records', `${id}.json`)
  const record = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...record, createdAt: new Date(time).toISOString() }))
}

const isDestroyed = (host: Host, id: string) =>
  eventually(`the end of ${id}`, () => host.info(id)?.state === 'destroyed', 60_000)

async function lastState(host: Host, id: string): Promise<unknown> {
  const { events } = await (await host.look(id)).journal.read({
    types: ['sandbox.*'],
    order: 'desc',
    limit: 1,
  })
  return events.map(({ type, data }) => ({ type, data }))[0]
}

it('a sandbox whose life ended while no host ran is destroyed by the next host, before it can be used', async () => {
  const data = dataFolder()
  const first = await open(data)
  await first.create({ id: 'over', local, ttlMs: hour })
  await first.create({ id: 'young', local, ttlMs: hour })
  await first.close()
  createdAt(data, 'over', Date.now() - hour)
  const second = await open(data)
  await expect(second.attach('over')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
  await isDestroyed(second, 'over')
  expect(await lastState(second, 'over')).toEqual({ type: 'sandbox.destroyed', data: { reason: 'ttl' } })
  expect(existsSync(join(data, 'sandboxes', 'over'))).toBe(false)
  expect(second.info('young')).toMatchObject({ state: 'stopped', ttlMs: hour })
  expect(existsSync(join(data, 'sandboxes', 'young'))).toBe(true)
})

it('a life that ends after a restart ends at its time since the creation', async () => {
  const data = dataFolder()
  // On a slow machine a short rest of its life is over before the sandbox is attached.
  const rests = [200, 2_000, 20_000]
  const first = await open(data)
  for (const rest of rests) await first.create({ id: `rest-${rest}`, local, ttlMs: hour })
  await first.close()
  for (const rest of rests) createdAt(data, `rest-${rest}`, Date.now() - hour + rest)
  const second = await open(data)
  const attached = async (rest: number) => second.attach(`rest-${rest}`).catch(() => undefined)
  const sandbox = (await attached(200)) ?? (await attached(2_000)) ?? (await second.attach('rest-20000'))
  await isDestroyed(second, sandbox.id)
  await expect(sandbox.exec('true')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
})

it('a sandbox of a host that was killed is destroyed by the next host, and its open work is closed', async () => {
  const data = dataFolder()
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const host = spawn(process.execPath, [...flags, script, data], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(host.stdout, 'data')
  host.kill('SIGKILL')
  await once(host, 'exit')
  createdAt(data, 'mortal', Date.now() - hour)
  const next = await open(data)
  await isDestroyed(next, 'mortal')
  expect(survivors('mortal')).toEqual([])
  const { events } = await (await next.look('mortal')).journal.read({ types: ['process.exited'] })
  expect(events).toMatchObject([{ data: { outcome: 'interrupted' } }])
  expect(await lastState(next, 'mortal')).toEqual({ type: 'sandbox.destroyed', data: { reason: 'ttl' } })
})

it('the times of a stop hold after a restart too, and begin with the next start', async () => {
  const data = dataFolder()
  const first = await open(data)
  await first.create({ id: 'idle', local, idleStopMs: 40 })
  await first.close()
  const second = await open(data)
  expect(second.info('idle')).toMatchObject({ state: 'stopped', idleStopMs: 40 })
  // The attach replaces the hooks, and is an operation therefore: the stop is no part of it.
  const sandbox = await second.attach('idle', { hooks: { beforeStop: ['true'] } })
  const stopped = { type: 'sandbox.stopped', data: { reason: 'idle' } }
  await eventually(
    'the stop',
    async () => JSON.stringify(await lastState(second, 'idle')) === JSON.stringify(stopped),
  )
  const { events } = await sandbox.journal.read({ types: ['operation.started'] })
  // The first host may have stopped it too, before its close.
  const stop = events.findLast(({ data }) => 'op' in data && data.op === 'stop')
  expect(stop).toMatchObject({ data: expect.not.objectContaining({ parent: expect.anything() }) })
  expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
})
