import { access, constants, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomHex } from '@vitrine/protocol'
import { enableControllers } from './controllers.ts'
import { errorText } from './file-errors.ts'
import { type GroupFolder, makeFolder, unmakeFolder } from './folders.ts'
import type { Hierarchy } from './layout.ts'
import type { Limit } from './limits.ts'
import type { CgroupVersion } from './mounts.ts'

export type Ability = Limit | 'freeze' | 'kill'

/** The features that a hierarchy supports, and the reasons why others are missing. */
export interface UsableGroups {
  readonly root: GroupFolder
  readonly abilities: ReadonlySet<Ability>
  readonly reasons: ReadonlyMap<Ability, string>
}

/** A write that changes nothing in an empty group, and fails if the ability is missing. */
interface Trial {
  readonly ability: Ability
  readonly controller?: string
  readonly file: string
  readonly value: string
}

const trials: Record<CgroupVersion, readonly Trial[]> = {
  1: [
    { ability: 'memory', controller: 'memory', file: 'memory.limit_in_bytes', value: '-1' },
    { ability: 'cpu', controller: 'cpu', file: 'cpu.cfs_quota_us', value: '-1' },
    { ability: 'pids', controller: 'pids', file: 'pids.max', value: 'max' },
    { ability: 'freeze', controller: 'freezer', file: 'freezer.state', value: 'THAWED' },
  ],
  2: [
    { ability: 'memory', controller: 'memory', file: 'memory.max', value: 'max' },
    { ability: 'cpu', controller: 'cpu', file: 'cpu.max', value: 'max' },
    { ability: 'pids', controller: 'pids', file: 'pids.max', value: 'max' },
    { ability: 'freeze', file: 'cgroup.freeze', value: '0' },
    { ability: 'kill', file: 'cgroup.kill', value: '1' },
  ],
}

/** Probes the folders from the nearest up and returns the first with the most abilities, or the reason why none works. */
export async function probe(hierarchy: Hierarchy): Promise<UsableGroups | string> {
  if (!hierarchy.writable) return `${hierarchy.folders.at(-1)} is mounted read-only`
  let best: UsableGroups | undefined
  let reason: string | undefined
  for (const folder of hierarchy.folders) {
    const found = await probeFolder(hierarchy, folder)
    if (typeof found === 'string') reason ??= found
    else if (best === undefined || found.abilities.size > best.abilities.size) best = found
    if (best?.abilities.size === maxAbilities(hierarchy)) break
  }
  return best ?? reason ?? 'the hierarchy has no groups'
}

function maxAbilities({ version, controllers }: Hierarchy): number {
  return version === 2 ? trials[2].length : controllers.length
}

async function probeFolder(hierarchy: Hierarchy, folder: string): Promise<UsableGroups | string> {
  try {
    return hierarchy.version === 2 ? await probeUnified(folder) : await probeLegacy(hierarchy, folder)
  } catch (error) {
    return errorText(error)
  }
}

async function probeUnified(folder: string): Promise<UsableGroups> {
  // Without write access here, no process may be moved from this group, not even into one of its children.
  await access(join(folder, 'cgroup.procs'), constants.W_OK)
  const { enabled, reasons } = await enableControllers(folder)
  const found = await attempt({ version: 2, folder, controllers: enabled }, enabled)
  return { ...found, reasons: new Map([...found.reasons, ...reasons]) }
}

function probeLegacy({ controllers }: Hierarchy, folder: string): Promise<UsableGroups> {
  return attempt({ version: 1, folder, controllers: [] }, controllers)
}

async function attempt(root: GroupFolder, controllers: readonly string[]): Promise<UsableGroups> {
  const abilities = new Set<Ability>()
  const reasons = new Map<Ability, string>()
  const group = await makeFolder(root, `probe-${process.pid}-${randomHex(4)}`)
  try {
    for (const { ability, controller, file, value } of trials[root.version]) {
      if (controller !== undefined && !controllers.includes(controller)) continue
      try {
        await writeFile(join(group, file), value)
        abilities.add(ability)
      } catch (error) {
        reasons.set(ability, errorText(error))
      }
    }
  } finally {
    await unmakeFolder(group)
  }
  return { root, abilities, reasons }
}
