import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findCgroups } from '../../src/cgroups/access.ts'
import { plainMachine } from '../../src/machine/plain.ts'

const cgroups = await findCgroups()
if (!cgroups.freeze) console.warn('SKIPPED: this machine cannot freeze processes.')

async function openMachine() {
  const options = { ownerTag: `freezing-${process.pid}@x`, root: '/var/tmp', home: '/var/tmp', env: {} }
  const machine = await plainMachine({ ...options, limits: { defaults: [] }, cgroups })
  onTestFinished(() => machine.close())
  const launched = await machine.launch({
    argv: ['sleep', '1000'],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    input: false,
  })
  return { machine, isFrozen: () => isFrozen(launched.pid) }
}

/** Whether the control group of a process is frozen. */
function isFrozen(pid: number): boolean {
  const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n')
  const v1 = lines.find((line) => line.includes(':freezer:'))?.split(':')[2]
  const v2 = lines.find((line) => line.startsWith('0::'))?.slice(3)
  return [
    `/sys/fs/cgroup${v2}/cgroup.events`,
    `/sys/fs/cgroup/unified${v2}/cgroup.events`,
    `/sys/fs/cgroup/freezer${v1}/freezer.state`,
  ].some((path) => existsSync(path) && /^FROZEN$|^frozen 1$/m.test(readFileSync(path, 'utf8')))
}

describe.skipIf(!cgroups.freeze)('a machine that is paused', () => {
  it('stays paused if some of its processes were being killed at that time', async () => {
    const { machine, isFrozen } = await openMachine()
    let paused: Promise<void> | undefined
    await machine.killInside(() => {
      paused = machine.pause()
      return []
    })
    await paused
    expect(isFrozen()).toBe(true)
    await machine.resume()
    expect(isFrozen()).toBe(false)
  })

  it('loses no process to a limit until it is resumed', async () => {
    const { machine, isFrozen } = await openMachine()
    await machine.pause()
    expect(await machine.killInside((inside) => inside.keys())).toBe(0)
    expect(isFrozen()).toBe(true)
    await machine.resume()
    expect(await machine.killInside((inside) => inside.keys())).toBeGreaterThan(0)
  })
})

it.skipIf(!cgroups.freeze)(
  'processes of a machine are chosen and killed by one caller at a time',
  async () => {
    const { machine, isFrozen } = await openMachine()
    const frozen: boolean[] = []
    const look = () => {
      frozen.push(isFrozen())
      return []
    }
    await Promise.all([machine.killInside(look), machine.killInside(look), machine.killInside(look)])
    expect(frozen).toEqual([true, true, true])
    expect(isFrozen()).toBe(false)
  },
)
