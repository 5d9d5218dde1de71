import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { PruneOptions, Sandbox, SandboxClient, SandboxInfo } from '@vitrine/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../src/waiting/within.ts'
import { InProcessDaemon } from './daemons.ts'

/** Ends the prompts of the slow agent, each once. */
const releases: (() => void)[] = []
const slow = {
  name: 'slow',
  onPrompt: () => new Promise<string[]>((resolve) => releases.push(() => resolve(['done']))),
}

const release = () =>
  eventually('a prompt', () => {
    const next = releases.shift()
    next?.()
    return next !== undefined
  })

const clients: readonly [string, (daemon: InProcessDaemon) => SandboxClient][] = [
  ['a host', ({ host }) => host],
  ['a client over HTTP', ({ client }) => client],
]

describe.each(clients)('the life times of sandboxes, through %s', (name, clientOf) => {
  let daemon: InProcessDaemon
  let client: SandboxClient
  beforeAll(async () => {
    daemon = await InProcessDaemon.open({ agents: [slow] })
    client = clientOf(daemon)
  })
  afterAll(() => daemon.close())

  const local = { isolation: 'none' } as const

  const infoOf = async (id: string): Promise<SandboxInfo | undefined> =>
    (await client.list({ state: 'all' })).find((info) => info.id === id)

  /** The types of events of a sandbox, with their reasons or outcomes. */
  async function history(id: string, types: readonly string[]): Promise<string[]> {
    const { events } = await (await client.look(id)).journal.read({ types })
    return events.map(({ type, ...rest }) => {
      const { reason, outcome } = { ...('data' in rest && rest.data) } as Record<string, unknown>
      return `${type} ${reason ?? outcome ?? ''}`.trim()
    })
  }

  /** Waits for the event, which follows the change of the state. */
  const isStopped = (id: string, reason: string) =>
    eventually(`${id} to be stopped`, async () => {
      const states = await history(id, ['sandbox.ready', 'sandbox.stopped'])
      return states.at(-1) === `sandbox.stopped ${reason}`
    })

  it('stop one that nothing is active in, although it is looked at, and its next use starts it again', async () => {
    const sandbox = await client.create({ id: 'idle', idleStopMs: 50, local })
    await sandbox.files.write('kept.txt', 'kept')
    const look = await client.look('idle')
    await eventually('the stop', async () => {
      await look.processes.list()
      await look.journal.read({ limit: 1 })
      return (await infoOf('idle'))?.state === 'stopped'
    })
    await isStopped('idle', 'idle')
    expect(await infoOf('idle')).toMatchObject({ idleStopMs: 50, state: 'stopped' })
    expect((await sandbox.exec('cat kept.txt')).stdout).toBe('kept')
    const seen = (await history('idle', ['sandbox.ready', 'sandbox.stopped'])).join(', ')
    expect(seen).toMatch(/^sandbox.ready(, sandbox.stopped idle, sandbox.ready)+(, sandbox.stopped idle)?$/)
    await isStopped('idle', 'idle')
    await sandbox.files.write('more.txt', 'after the second stop')
  })

  it('do not stop one with a process, a terminal or a turn, until that has ended', async () => {
    const create = (id: string) => client.create({ id, idleStopMs: 60, local })
    const withProcess = await create('with-process')
    const process = await withProcess.spawn(['cat'])
    const withTerminal = await create('with-terminal')
    const terminal = await withTerminal.spawn(['cat'], { tty: { cols: 80, rows: 24 } })
    const withTurn = await create('with-turn')
    // Until the prompt is sent, this process keeps the session open.
    const cat = await withTurn.spawn(['cat'])
    const session = await withTurn.openSession({ agent: 'slow' })
    const turn = session.prompt('one')
    const queued = session.prompt('two')
    await eventually('the turn', async () => (await history('with-turn', ['prompt.queued'])).length === 1)
    await cat.kill()
    // The time is over when one that began later has been stopped.
    await create('alone')
    await isStopped('alone', 'idle')
    const active = ['with-process', 'with-terminal', 'with-turn']
    for (const id of active) expect([id, (await infoOf(id))?.state]).toEqual([id, 'running'])

    await process.end()
    await terminal.kill()
    await release()
    expect(await turn).toMatchObject({ outcome: 'ok' })
    await release()
    expect(await queued).toMatchObject({ outcome: 'ok' })
    for (const id of active) await isStopped(id, 'idle')
    const types = ['process.exited', 'turn.finished', 'sandbox.stopped']
    expect((await history('with-process', types)).slice(-2)).toEqual([
      'process.exited ok',
      'sandbox.stopped idle',
    ])
    expect((await history('with-terminal', types)).at(-1)).toBe('sandbox.stopped idle')
    expect((await history('with-turn', types)).slice(-3)).toEqual([
      'turn.finished ok',
      'turn.finished ok',
      'sandbox.stopped idle',
    ])
    await expect(session.prompt('three')).rejects.toMatchObject({ code: 'session_closed' })
    expect((await withTurn.sessions.resume(session.id)).id).toBe(session.id)
  })

  it('stop one after its age although it is active, and end its work with an outcome', async () => {
    const sandbox = await client.create({ id: 'old', maxAgeMs: 200, local })
    const cut = await sandbox.exec('sleep 1000').catch((error: unknown) => error)
    expect(cut).toMatchObject({ outcome: 'cancelled' })
    await isStopped('old', 'max_age')
    const types = ['sandbox.stopped', 'process.exited']
    expect((await history('old', types)).slice(-2)).toEqual([
      'process.exited cancelled',
      'sandbox.stopped max_age',
    ])
    expect((await sandbox.exec('echo again')).stdout).toBe('again\n')
  })

  it.each(['running', 'stopped'])(
    'destroy one that is %s at the end of its life, and keep its journal',
    async (state) => {
      const id = `mortal-${state}`
      const sandbox = await client.create({ id, ttlMs: 300, local })
      if (state === 'stopped') await sandbox.lifecycle.stop().catch(() => undefined)
      await eventually('its end', async () => (await infoOf(id))?.state === 'destroyed')
      expect((await client.list()).map((info) => info.id)).not.toContain(id)
      expect(await client.list({ state: 'destroyed' })).toContainEqual(
        expect.objectContaining({ id, ttlMs: 300 }),
      )
      expect((await history(id, ['sandbox.*'])).at(-1)).toBe('sandbox.destroyed ttl')
      expect(await readdir(join(daemon.host.data, 'sandboxes'))).not.toContain(id)
      await expect(client.attach(id)).rejects.toMatchObject({ code: 'sandbox_destroyed' })
    },
  )

  it('refuse times that are no times by their names', async () => {
    for (const field of ['idleStopMs', 'maxAgeMs', 'ttlMs'])
      for (const value of [-1, 0, Number.NaN, Number.POSITIVE_INFINITY, '1000', 2 ** 53])
        await expect(client.create({ [field]: value })).rejects.toMatchObject({
          code: 'argument_invalid',
          message: expect.stringContaining(field),
        })
  })

  describe('with prune', () => {
    const labels = { batch: `prune through ${name}` }
    const prune = async (options: PruneOptions) => {
      const { sandboxes, freedBytes } = await client.prune({ labels, ...options })
      return { ids: sandboxes.map(({ id }) => id).sort(), sandboxes, freedBytes }
    }
    let sandboxes: readonly Sandbox[]

    it('return what they would destroy, with its disk space', async () => {
      sandboxes = await Promise.all(
        ['a', 'b', 'c'].map((id) => client.create({ id, labels: { ...labels, id }, local })),
      )
      await sandboxes[0]?.exec('head -c 1000000 /dev/zero > big')
      for (const sandbox of sandboxes.slice(0, 2)) await sandbox.lifecycle.stop()
      expect(await prune({ stoppedMs: 3_600_000, dryRun: true })).toMatchObject({ ids: [], freedBytes: 0 })
      const all = await prune({ stoppedMs: 0, dryRun: true })
      expect(all.ids).toEqual(['a', 'b'])
      expect(all.sandboxes[0]?.freedBytes).toBeGreaterThan(1_000_000)
      expect((await prune({ stoppedMs: 0, running: true, dryRun: true })).ids).toEqual(['a', 'b', 'c'])
      expect((await client.list({ labels })).map(({ state }) => state).sort()).toEqual([
        'running',
        'stopped',
        'stopped',
      ])
    })

    it('measure the disk space of each where a list is asked for it, and start none', async () => {
      const bytes = (await client.list({ labels, disk: true })).map(({ id, diskBytes = 0 }) => [
        id,
        diskBytes > 1_000_000,
      ])
      expect(Object.fromEntries(bytes)).toEqual({ a: true, b: false, c: false })
      expect((await client.list({ labels })).filter((info) => 'diskBytes' in info)).toEqual([])
      expect((await infoOf('a'))?.state).toBe('stopped')
    })

    it('destroy the stopped ones with these labels and no others', async () => {
      const one = await prune({ stoppedMs: 0, labels: { ...labels, id: 'a' } })
      expect(one.ids).toEqual(['a'])
      expect(one.freedBytes).toBeGreaterThan(1_000_000)
      expect(one.sandboxes).toMatchObject([{ id: 'a', state: 'stopped', freedBytes: one.freedBytes }])
      expect((await prune({ stoppedMs: 0 })).ids).toEqual(['b'])
      expect((await prune({ stoppedMs: 0 })).ids).toEqual([])
      expect(await client.list({ labels })).toMatchObject([{ id: 'c', state: 'running' }])
      expect((await history('a', ['sandbox.*'])).at(-1)).toBe('sandbox.destroyed prune')
      expect(await readdir(join(daemon.host.data, 'sandboxes'))).toEqual(
        expect.not.arrayContaining(['a', 'b']),
      )
    })

    it('destroy running ones where that is asked for', async () => {
      expect((await prune({ stoppedMs: 0, running: true })).ids).toEqual(['c'])
      await expect(sandboxes[2]?.exec('true')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
      await expect(prune({ stoppedMs: -1 })).rejects.toMatchObject({ code: 'argument_invalid' })
    })
  })
})
