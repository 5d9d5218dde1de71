import { access, constants, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomHex } from '@vitrine/protocol'
import { errorCode, errorText } from './file-errors.ts'
import { enable, makeFolder, type Place, removeFolder } from './folders.ts'
import type { Hierarchy } from './layout.ts'
import type { Limit } from './limits.ts'

export type Ability = Limit | 'freeze' | 'kill'

/** What can be had of a hierarchy, and why the rest cannot. */
export interface Found {
  readonly place: Place
  readonly abilities: ReadonlySet<Ability>
  readonly reasons: ReadonlyMap<Ability, string>
}

/** A write that changes nothing in an empty group, and fails where the ability is missing. */
const trials = {
  1: {
    memory: ['memory.limit_in_bytes', '-1'],
    cpu: ['cpu.cfs_quota_us', '-1'],
    pids: ['pids.max', 'max'],
    freeze: ['freezer.state', 'THAWED'],
  },
  2: {
    memory: ['memory.max', 'max'],
    cpu: ['cpu.max', 'max'],
    pids: ['pids.max', 'max'],
    freeze: ['cgroup.freeze', '0'],
    kill: ['cgroup.kill', '1'],
  },
} as const satisfies Record<1 | 2, Partial<Record<Ability, readonly [file: string, value: string]>>>

const limits: readonly Limit[] = ['memory', 'cpu', 'pids']

/** Tries the folders from the nearest up, and settles for the first that gives the most. */
export async function probe(hierarchy: Hierarchy): Promise<Found | string> {
  const [nearest = ''] = hierarchy.folders
  if (!hierarchy.writable) return `${hierarchy.folders.at(-1)} is mounted read-only`
  const wanted =
    hierarchy.version === 2 ? 5 : hierarchy.controllers.filter((name) => name !== 'cpuacct').length
  let best: Found | undefined
  let reason = `there is no ${nearest}`
  for (const folder of hierarchy.folders) {
    const found = await probeFolder(hierarchy, folder)
    if (typeof found === 'string') reason = folder === nearest ? found : reason
    else if (best === undefined || found.abilities.size > best.abilities.size) best = found
    if (best?.abilities.size === wanted) break
  }
  return best ?? reason
}

async function probeFolder({ version, controllers }: Hierarchy, folder: string): Promise<Found | string> {
  const reasons = new Map<Ability, string>()
  const given = version === 2 ? await enableLimits(folder, reasons) : limits.filter((name) => controllers.includes(name))
  const place: Place = { version, folder, controllers: given }
  const abilities = new Set<Ability>()
  try {
    // Without delegation a process may not be moved from here, even into a group of one's own.
    if (version === 2) await access(join(folder, 'cgroup.procs'), constants.W_OK)
    const group = await makeFolder(place, `probe-${process.pid}-${randomHex(4)}`)
    try {
      for (const [ability, trial] of trialsOf(version)) {
        if (version === 2 && isLimit(ability) && !given.includes(ability)) continue
        if (version === 1 && !controllers.includes(ability === 'freeze' ? 'freezer' : ability)) continue
        const failure = await failureOf(writeFile(join(group, trial[0]), trial[1]))
        if (failure === undefined) abilities.add(ability)
        else reasons.set(ability, failure)
      }
    } finally {
      await removeFolder(group)
    }
  } catch (error) {
    await rmdir(join(folder, 'vitrine')).catch(() => {})
    return errorText(error)
  }
  return { place, abilities, reasons }
}

function trialsOf(version: 1 | 2): [Ability, readonly [file: string, value: string]][] {
  const { memory, cpu, pids, freeze } = trials[version]
  const shared: [Ability, readonly [string, string]][] = [
    ['memory', memory],
    ['cpu', cpu],
    ['pids', pids],
    ['freeze', freeze],
  ]
  return version === 2 ? [...shared, ['kill', trials[2].kill]] : shared
}

/** v2: the controllers that groups below this one get, after asking for them. */
async function enableLimits(folder: string, reasons: Map<Ability, string>): Promise<Limit[]> {
  const available = await words(join(folder, 'cgroup.controllers'))
  const enabled = await words(join(folder, 'cgroup.subtree_control'))
  const busy = await holdsProcesses(folder)
  const given: Limit[] = []
  for (const name of limits) {
    const failure = !available.includes(name)
      ? `${folder}/cgroup.controllers has no ${name}`
      : enabled.includes(name)
        ? undefined
        : busy
          ? `${folder} holds processes, so that v2 gives no controllers to groups below it`
          : await failureOf(enable(folder, [name]))
    if (failure === undefined) given.push(name)
    else reasons.set(name, failure)
  }
  return given
}

/** The true root, which has no type, may have both processes and controllers below it. */
async function holdsProcesses(folder: string): Promise<boolean> {
  const type = await readFile(join(folder, 'cgroup.type'), 'utf8').catch(errorCode)
  return type !== 'ENOENT' && (await words(join(folder, 'cgroup.procs'))).length > 0
}

async function words(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split(/\s+/).filter((word) => word !== '')
}

async function failureOf(attempt: Promise<void>): Promise<string | undefined> {
  try {
    await attempt
    return undefined
  } catch (error) {
    return errorText(error)
  }
}

function isLimit(ability: Ability): ability is Limit {
  return limits.some((limit) => limit === ability)
}
