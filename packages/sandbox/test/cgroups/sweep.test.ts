import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createCgroup } from '../../src/cgroups/create.ts'
import { sweepCgroups } from '../../src/cgroups/sweep.ts'
import { access, ended, prefix, startIn, until } from './machine.ts'

if (!access.kill) console.warn(`SKIPPED: there are no groups to sweep here: ${access.reasons.kill}`)

describe.runIf(access.kill)('sweepCgroups', () => {
  test('kills and removes the groups with the prefix, and no others', async () => {
    const make = async (name: string) => {
      const cgroup = await createCgroup(access, `${prefix}${name}`, access.pids ? { pids: 50 } : {})
      onTestFinished(() => cgroup.remove())
      return cgroup
    }
    const [full, empty, other] = [await make('dead-1'), await make('dead-2'), await make('live-1')]
    const inner = full.child('inner')
    const end = ended(startIn(inner, 'sleep', '60'))
    startIn(other, 'sleep', '60')
    await until(async () => (await full.pids()).length === 1 && (await other.pids()).length === 1)

    expect((await sweepCgroups(access, `${prefix}dead`)).sort()).toEqual([
      `${prefix}dead-1`,
      `${prefix}dead-2`,
    ])
    expect(await end).toMatchObject({ signal: 'SIGKILL' })
    for (const path of [...full.paths, ...empty.paths]) expect(existsSync(dirname(path))).toBe(false)
    expect(await other.pids()).toHaveLength(1)
    expect(await sweepCgroups(access, `${prefix}dead`)).toEqual([])
  })

  test('a leftover name can be used again after the sweep, not before', async () => {
    const name = `${prefix}again`
    await createCgroup(access, name)
    await expect(createCgroup(access, name)).rejects.toMatchObject({ code: 'argument_invalid' })
    await sweepCgroups(access, name)
    const cgroup = await createCgroup(access, name)
    await cgroup.remove()
  })

  test('rejects an empty prefix, which would match the groups of every host', async () => {
    await expect(sweepCgroups(access, '')).rejects.toMatchObject({ code: 'argument_invalid' })
  })
})
