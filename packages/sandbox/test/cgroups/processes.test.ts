import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { scale } from '../../../../conformance/src/scale.ts'
import type { CgroupAccess } from '../../src/cgroups/access.ts'
import type { UsableGroups } from '../../src/cgroups/probe.ts'
import { access, commandOf, ended, group, isAlive, startIn, until } from './machine.ts'

/** Simulates the cgroup features of other machines with the hierarchies of this one. */
const ways: readonly (readonly [string, CgroupAccess])[] = [
  ['as this machine has it', access],
  ['with v1 only', only(({ root }) => root.version === 1)],
  ['with a v2 that cannot kill', only(({ root }) => root.version === 2, 'kill')],
  ['with neither freezer nor kill', only(({ abilities }) => abilities.has('pids'), 'freeze', 'kill')],
]

function only(keep: (found: UsableGroups) => boolean, ...without: string[]): CgroupAccess {
  const hierarchies = access.hierarchies.filter(keep).map((found) => ({
    ...found,
    abilities: new Set([...found.abilities].filter((ability) => !without.includes(ability))),
  }))
  const freeze = hierarchies.some(({ abilities }) => abilities.has('freeze'))
  return { ...access, hierarchies, freeze, kill: hierarchies.length > 0 }
}

for (const [way, { kill, freeze }] of ways)
  if (!kill || !freeze) console.warn(`SKIPPED ${way}: ${kill ? 'freezing' : 'killing'} is not tried here.`)

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vitrine-cgroups-'))
  return () => rmSync(folder, { recursive: true })
})

describe.each(ways)('%s', (_, given) => {
  test.runIf(given.freeze)('freezing stops a process that counts, and thawing lets it go on', async () => {
    const cgroup = await group({}, given)
    const file = join(folder, cgroup.name)
    startIn(cgroup, 'sh', '-c', `i=0; while :; do i=$((i+1)); echo $i > ${file}; sleep 0.005; done`)
    const count = () => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0)
    await until(() => count() > 3)
    await cgroup.freeze()
    const stopped = count()
    await pause(150)
    expect(count()).toBe(stopped)
    await cgroup.thaw()
    await until(() => count() > stopped + 3)
  })

  test.runIf(given.freeze)('processes that keep forking are frozen every time', async () => {
    const cgroup = await group({}, given)
    for (const _ of [1, 2, 3, 4]) startIn(cgroup, 'sh', '-c', 'while :; do sleep 0.005; done')
    await until(async () => (await cgroup.pids()).length > 4)
    for (let round = 0; round < scale.freezes; round += 1) {
      await cgroup.freeze()
      await cgroup.thaw()
      await pause(round % 7)
    }
  })

  test.runIf(given.freeze)('an empty group can be frozen, and frozen processes can be killed', async () => {
    const cgroup = await group({}, given)
    await cgroup.freeze()
    await cgroup.thaw()
    const child = startIn(cgroup, 'sleep', '60')
    const end = ended(child)
    await until(async () => (await cgroup.pids()).length === 1)
    await cgroup.freeze()
    await cgroup.kill()
    expect(await end).toMatchObject({ signal: 'SIGKILL' })
  })

  test.runIf(given.kill)('killing also ends processes that left their session and their parent', async () => {
    const cgroup = await group({}, given)
    const fleeing =
      'setsid sleep 300 & (setsid sh -c "sleep 301 & sleep 302" &); (sleep 303 &); trap "" TERM; sleep 304'
    const end = ended(startIn(cgroup, 'sh', '-c', fleeing))
    // The last process starts after the subshells have exited.
    const sleeps = ['300', '301', '302', '303', '304'].map((time) => `sleep\0${time}\0`)
    await until(async () => {
      const commands = (await cgroup.pids()).map(commandOf)
      return sleeps.every((sleep) => commands.includes(sleep))
    })
    const pids = await cgroup.pids()
    expect(pids.length).toBe(7)
    expect(pids.every(isAlive)).toBe(true)
    await cgroup.kill()
    expect(pids.filter(isAlive)).toEqual([])
    expect(await cgroup.pids()).toEqual([])
    expect(await end).toMatchObject({ signal: 'SIGKILL' })
  })

  test.runIf(given.kill)('killing ends a process that keeps forking', async () => {
    const cgroup = await group({}, given)
    startIn(cgroup, 'sh', '-c', 'while :; do setsid sleep 0.3 & sleep 0.002; done')
    await until(async () => (await cgroup.pids()).length > 10)
    await cgroup.kill()
    await pause(50)
    expect(await cgroup.pids()).toEqual([])
  })

  test.runIf(given.kill)('removing a group kills its processes and leaves no folder', async () => {
    const cgroup = await group({}, given)
    const { pid = 0 } = startIn(cgroup, 'sleep', '60')
    await until(async () => (await cgroup.pids()).includes(pid))
    cgroup.child('inner').child('innermost')
    await cgroup.remove()
    expect(isAlive(pid)).toBe(false)
    for (const path of cgroup.paths) expect(existsSync(dirname(path))).toBe(false)
    await cgroup.remove()
  })

  test.runIf(given.kill)('a child group is killed separately, and with its parent', async () => {
    const cgroup = await group({}, given)
    const [one, two] = [cgroup.child('one'), cgroup.child('two')]
    startIn(cgroup, 'sleep', '60')
    startIn(one, 'sleep', '60')
    startIn(two, 'sleep', '60')
    await until(async () => (await cgroup.pids()).length === 3)
    await until(async () => (await one.pids()).length === 1 && (await two.pids()).length === 1)
    await one.remove()
    expect((await cgroup.pids()).length).toBe(2)
    expect(() => cgroup.child('two')).toThrow('cannot be created')
    await cgroup.kill()
    expect(await two.pids()).toEqual([])
    await two.remove()
    expect(existsSync(dirname(cgroup.paths[0] ?? ''))).toBe(true)
  })
})

describe.runIf(access.kill)('join', () => {
  test('joins a running process to every hierarchy', async () => {
    const limits = {
      ...(access.memory && { memoryBytes: 2 ** 30 }),
      ...(access.pids && { pids: 100 }),
      ...(access.cpu && { cpus: 1 }),
    }
    const cgroup = await group(limits)
    const child = spawn('sleep', ['60'])
    cgroup.join(child.pid ?? 0)
    for (const path of cgroup.paths) expect(readFileSync(path, 'utf8')).toBe(`${child.pid}\n`)
    await cgroup.kill()
  })

  test('joining a process that has ended is not an error', async () => {
    const cgroup = await group()
    const child = spawn('true')
    await ended(child)
    cgroup.join(child.pid ?? 0)
    expect(await cgroup.pids()).toEqual([])
  })

  test.each([0, -1, 1.5, Number.NaN])('rejects the pid %d', async (pid) => {
    const cgroup = await group()
    expect(() => cgroup.join(pid)).toThrow('pid: expected')
  })

  test('reports that the group no longer exists', async () => {
    const cgroup = await group()
    await cgroup.remove()
    expect(() => cgroup.join(process.pid)).toThrow('cannot join')
    await expect(cgroup.thaw()).rejects.toMatchObject({ name: 'VitrineError' })
  })
})
