import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createCgroup } from '../../src/cgroups/create.ts'
import { sweepCgroups } from '../../src/cgroups/sweep.ts'
import { access, ended, group, prefix, startIn } from './machine.ts'

for (const [ability, reason] of Object.entries(access.reasons))
  console.warn(`SKIPPED: what needs ${ability} of cgroups is not tried here: ${reason}`)

describe('a limit', () => {
  test.runIf(access.memory)('a memory limit kills a process that needs more, and counts it', async () => {
    const cgroup = await group({ memoryBytes: 128 * 1024 ** 2 })
    const child = startIn(cgroup, process.execPath, '-e', 'Buffer.alloc(400e6, 1)')
    expect(await ended(child)).toMatchObject({ signal: 'SIGKILL' })
    const { oomKills, memoryBytes } = await cgroup.usage()
    expect(oomKills).toBeGreaterThanOrEqual(1)
    expect(memoryBytes).toBeLessThan(128 * 1024 ** 2)
  })

  test.runIf(access.pids)('a limit of processes makes the next fork fail', async () => {
    const cgroup = await group({ pids: 10 })
    const child = startIn(
      cgroup,
      'sh',
      '-c',
      'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 60 >/dev/null 2>&1 & done',
    )
    const { status, stderr } = await ended(child)
    expect(status).not.toBe(0)
    expect(stderr).toMatch(/fork|Resource/)
    expect((await cgroup.usage()).pids).toBeLessThanOrEqual(10)
    expect(await cgroup.pids()).toHaveLength(9)
  })

  test.runIf(access.cpu)('a limit of processors is written to the kernel', async () => {
    const cgroup = await group({ cpus: 0.25 })
    const folders = cgroup.paths.map((path) => dirname(path))
    const files = folders.flatMap((folder) =>
      ['cpu.max', 'cpu.cfs_quota_us'].map((name) => join(folder, name)),
    )
    const [file = ''] = files.filter((path) => existsSync(path))
    expect(readFileSync(file, 'utf8')).toMatch(/^25000\b/)
  })

  test.runIf(access.cpu)('a limit of processors slows a busy process down', async () => {
    const cgroup = await group({ cpus: 0.05 })
    const throttled = () => {
      const files = cgroup.paths.map((path) => join(dirname(path), 'cpu.stat')).filter(existsSync)
      const text = files.map((path) => readFileSync(path, 'utf8')).join('')
      return Number(/^nr_throttled (\d+)$/m.exec(text)?.[1])
    }
    expect(throttled()).toBe(0)
    const busy = startIn(cgroup, 'sh', '-c', 'while :; do :; done')
    await expect.poll(throttled).toBeGreaterThan(0)
    busy.kill('SIGKILL')
    expect(await ended(busy)).toMatchObject({ signal: 'SIGKILL' })
  })

  test.runIf(access.kill)('creates a group without limits', async () => {
    const cgroup = await group()
    expect(cgroup.paths).toHaveLength(1)
    const child = startIn(cgroup, process.execPath, '-e', 'for (let i = 0; i < 1e8; i++);')
    await ended(child)
    const { cpuMs } = await cgroup.usage()
    if (cpuMs !== undefined) expect(cpuMs).toBeGreaterThan(5)
  })

  test.runIf(access.pids)('leaves no group behind when the kernel rejects a limit', async () => {
    const name = `${prefix}refused`
    await expect(createCgroup(access, name, { pids: 2 ** 40 })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('The pids limit cannot be set to 1099511627776: EINVAL'),
    })
    expect(await sweepCgroups(access, name)).toEqual([])
  })
})
