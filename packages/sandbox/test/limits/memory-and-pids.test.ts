import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isGap, type LocalOptions } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { scale } from '../../../../conformance/src/scale.ts'
import { findCgroups } from '../../src/cgroups/access.ts'
import type { LocalSandbox } from '../../src/index.ts'
import { ownerTagOf } from '../../src/machine/orphans.ts'
import { carriesMarker, readProcessTable } from '../../src/machine/process-table.ts'
import { openSandbox } from '../fixtures/sandbox.ts'

const access = await findCgroups()
if (!access.pids || !access.memory) console.warn('SKIPPED: this machine cannot limit processes and memory.')

const isolations = ['bubblewrap', 'none'] as const
const memoryBytes = 64 * 1024 ** 2

async function reached(sandbox: LocalSandbox) {
  const { events } = await sandbox.journal.read({ types: ['limit.reached'] })
  return events.flatMap((item) => (isGap(item) ? [] : [item.data]))
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Doubles itself until the limit refuses, for ever; its processes outlive the command. */
const bomb = 'b() { b | b & }; b'
/** Keeps the limit used up while the command itself runs. */
const runningBomb = 'b() { b | b & }; b; while :; do sleep 1; done'
/** Each process starts the next one and exits, so that no list of them is ever current. */
const comets = `exec perl -e 'for (1..80) { my $p = fork; if (defined $p && !$p) { while (1) { exit if fork } } } sleep 1000'`
/** Its children end at once, and it never waits for them. */
const zombies = `exec perl -e 'for (1..80) { my $p = fork; exit if defined $p && !$p } while (1) { sleep 1; my $p = fork; exit if defined $p && !$p }'`

describe.skipIf(!access.pids).each(isolations)('a limit of processes (%s)', (isolation) => {
  const open = (options: LocalOptions = {}) =>
    openSandbox({ isolation, watch: false, limits: { pids: 64, ...scale.bombs }, ...options })

  it('names itself in an event and in the result of the command that reached it', async () => {
    const sandbox = await open()
    const result = await sandbox.exec('i=0; while [ $i -lt 100 ]; do sleep 1000 & i=$((i+1)); done; wait')
    expect(result).toMatchObject({ outcome: 'failed', limit: { limit: 'pids', max: 64 } })
    expect(result.limit?.message).toContain('local.limits.pids')
    expect(await reached(sandbox)).toContainEqual(
      expect.objectContaining({ limit: 'pids', max: 64, process: expect.any(String) }),
    )
    const { events } = await sandbox.journal.read({ types: ['process.exited'] })
    expect(events[0]?.data).toMatchObject({ limit: 'pids', errorMessage: result.limit?.message })
  })

  it('leaves nothing of a command that used it up and ended', async () => {
    const sandbox = await open()
    await sandbox.exec(bomb, { shell: 'bash' })
    // On a slow machine the command ends before its processes have used up the limit.
    await until(async () => (await reached(sandbox)).some((data) => 'ended' in data))
    expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
  })

  it('spares what an earlier command left running', async () => {
    const sandbox = await open()
    const { stdout } = await sandbox.exec('sleep 1000.5 > /dev/null 2>&1 & echo $!')
    await sandbox.exec(bomb, { shell: 'bash' })
    expect((await sandbox.exec(`kill -0 ${stdout}`)).exitCode).toBe(0)
  })

  it('ends the command that uses it up, so that the next one starts', async () => {
    const sandbox = await open()
    const flood = sandbox.exec('i=0; while [ $i -lt 100 ]; do sleep 1000 & i=$((i+1)); done; sleep 1000', {
      shell: 'bash',
    })
    await until(async () => (await reached(sandbox)).length > 0)
    expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
    expect(await flood).toMatchObject({ outcome: 'failed', signal: 'SIGKILL', limit: { limit: 'pids' } })
  })

  it.each([
    ['a fork bomb', runningBomb],
    ['processes that start one another and exit', comets],
    ['a program that never waits for its children', zombies],
  ])('ends %s by itself', async (_, command) => {
    const sandbox = await open()
    expect(await sandbox.exec(command, { shell: 'bash' })).toMatchObject({
      outcome: 'failed',
      limit: { limit: 'pids', max: 64 },
    })
    expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
  })

  it.each([
    ['a fork bomb', runningBomb],
    ['processes that start one another and exit', comets],
  ])('lets a sandbox with %s be looked into, killed and stopped', async (_, command) => {
    const sandbox = await open()
    const process = await sandbox.spawn(command, { shell: 'bash' })
    await until(async () => (await reached(sandbox)).length > 0)
    await sandbox.files.write('while.txt', 'x')
    expect(await sandbox.processes.list()).toMatchObject([{ id: process.id }])
    await process.kill()
    expect((await sandbox.exec('cat while.txt')).stdout).toBe('x')
    await sandbox.spawn(command, { shell: 'bash' })
    await sandbox.lifecycle.stop()
    await sandbox.lifecycle.start()
    expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
  })

  it('leaves nothing of a command that is ended by its time limit', async () => {
    const sandbox = await open()
    expect(await sandbox.exec(comets, { shell: 'bash', timeoutMs: 300 })).toMatchObject({
      limit: { limit: 'pids' },
    })
    expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
  })

  it('is not blamed on a command that runs for long, whose end ends nothing of later commands', async () => {
    const sandbox = await open()
    const long = await sandbox.spawn('exec sleep 1000')
    expect(await sandbox.exec(runningBomb, { shell: 'bash' })).toMatchObject({ limit: { limit: 'pids' } })
    const { stdout } = await sandbox.exec('sleep 1000 > /dev/null 2>&1 & echo $!')
    const before = await reached(sandbox)
    expect(await long.kill()).not.toHaveProperty('limit')
    expect((await sandbox.exec(`kill -0 ${stdout.trim()}`)).outcome).toBe('ok')
    expect(await reached(sandbox)).toEqual(before)
  })

  it('does not harm another sandbox', async () => {
    const sandbox = await open()
    const other = await open({ limits: {} })
    const process = await other.spawn('exec sleep 1000')
    await sandbox.exec(runningBomb, { shell: 'bash' })
    expect((await other.exec('echo on')).stdout).toBe('on\n')
    expect(await other.processes.get(process.id)).toMatchObject({ state: 'running' })
    expect(await reached(other)).toEqual([])
  })
})

describe.skipIf(!access.memory).each(isolations)('a limit of memory (%s)', (isolation) => {
  it('names itself in an event and in the result of the command that reached it', async () => {
    const sandbox = await openSandbox({ isolation, watch: false, limits: { memoryBytes } })
    const greedy = await sandbox.exec(`exec perl -e 'my @x; while (1) { push @x, "x" x 1000000 }'`)
    expect(greedy).toMatchObject({
      outcome: 'failed',
      signal: 'SIGKILL',
      limit: { limit: 'memoryBytes', max: memoryBytes },
    })
    expect(greedy.limit?.message).toContain('local.limits.memoryBytes')
    expect(await reached(sandbox)).toEqual([
      { limit: 'memoryBytes', max: memoryBytes, process: expect.any(String) },
    ])
    expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
  })

  it('is recorded while the command that lost a child to it goes on', async () => {
    const sandbox = await openSandbox({ isolation, watch: false, limits: { memoryBytes } })
    const greedy = `perl -e 'my @x; while (1) { push @x, "x" x 1000000 }'`
    const process = await sandbox.spawn(`${greedy}; exec sleep 1000`)
    await until(async () => (await reached(sandbox)).length > 0)
    expect(await reached(sandbox)).toEqual([{ limit: 'memoryBytes', max: memoryBytes, process: process.id }])
  })
})

describe('a sandbox without options', () => {
  it('has limits that this machine can enforce, and reports no degradation by them', async () => {
    const sandbox = await openSandbox({ watch: false })
    const { events } = await sandbox.journal.read({ types: ['sandbox.degraded'] })
    expect(JSON.stringify(events)).not.toContain('limits.')
    if (sandbox.capabilities.isolation !== 'none' && sandbox.capabilities.limits.includes('tmp'))
      expect(Number((await sandbox.exec('df -k --output=size /tmp | tail -1')).stdout)).toBeGreaterThan(0)
  })

  it.skipIf(!access.pids).each(isolations)('is limited in its processes (%s)', async (isolation) => {
    const max = async (limits: LocalOptions['limits']) => {
      const sandbox = await openSandbox({ isolation, watch: false, ...(limits && { limits }) })
      await sandbox.spawn('exec sleep 1000')
      return pidsMaxOf(sandbox)
    }
    expect(await max(undefined)).toMatch(/^\d+$/)
    expect(await max({ pids: false })).toBe('max')
  })
})

/** `pids.max` of the control group of a sandbox's processes. */
function pidsMaxOf(sandbox: LocalSandbox): string {
  const isInside = (pid: number) =>
    carriesMarker(pid, `VITRINE_SANDBOX=${ownerTagOf(sandbox.id, dataOf(sandbox))}`)
  const pid = [...readProcessTable().keys()].find(isInside)
  const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n')
  const v1 = lines.find((line) => line.includes(':pids:'))?.split(':')[2]
  const v2 = lines.find((line) => line.startsWith('0::'))?.slice(3)
  const file = [`/sys/fs/cgroup/pids${v1}/pids.max`, `/sys/fs/cgroup${v2}/pids.max`].find((path) =>
    existsSync(path),
  )
  return file === undefined ? 'max' : readFileSync(file, 'utf8').trim()
}

function dataOf({ root }: LocalSandbox): string {
  return dirname(dirname(dirname(root)))
}
