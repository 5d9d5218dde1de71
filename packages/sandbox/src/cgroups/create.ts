import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type MachineLimits, VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import { type CgroupAccess, provider, tracker } from './access.ts'
import { Cgroup } from './cgroup.ts'
import { errorText } from './file-errors.ts'
import { makeFolder, unmakeFolder } from './folders.ts'
import type { Group } from './group.ts'
import { type Limit, limitsOf, limitWrites } from './limits.ts'
import { checkName } from './name.ts'
import type { UsableGroups } from './probe.ts'

/**
 * Creates a control group for the processes of one sandbox.
 *
 * @example
 * const group = await createCgroup(await findCgroups(), 'sbx-1', { memoryBytes: 512 * 1024 ** 2, pids: 256 })
 * group.join(child.pid)
 */
export async function createCgroup(
  access: CgroupAccess,
  name: string,
  limits: MachineLimits = {},
): Promise<Cgroup> {
  checkName(name)
  const needed = neededHierarchies(access, limitsOf(limits))
  const groups: Group[] = []
  try {
    for (const [found, wanted] of needed) {
      const folder = await makeGroup(found, name)
      groups.push({ version: found.root.version, folder, abilities: found.abilities })
      await setLimits(found, folder, limits, wanted)
    }
  } catch (error) {
    for (const { folder } of groups) await unmakeFolder(folder).catch(() => {})
    throw error
  }
  const [tracked, ...limiting] = groups
  if (tracked === undefined) throw new VitrineError('internal', 'The group was created in no hierarchy.')
  return new Cgroup(name, { tracked, limiting })
}

/** The hierarchies to use, each with the limits to set in it; the tracking one comes first. */
function neededHierarchies(access: CgroupAccess, limits: readonly Limit[]): Map<UsableGroups, Limit[]> {
  const tracking = tracker(access)
  if (tracking === undefined)
    throw new VitrineError('unsupported', `Control groups are not available: ${access.reasons.kill}.`)
  const needed = new Map<UsableGroups, Limit[]>([[tracking, []]])
  for (const limit of limits) {
    const found = provider(access.hierarchies, limit)
    if (found === undefined)
      throw new VitrineError('unsupported', `The ${limit} limit is not supported: ${access.reasons[limit]}.`)
    needed.set(found, [...(needed.get(found) ?? []), limit])
  }
  return needed
}

async function makeGroup({ root }: UsableGroups, name: string): Promise<string> {
  try {
    return await makeFolder(root, name)
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST')
      throw new VitrineError(
        'argument_invalid',
        `name: the group ${name} exists already; remove the groups of a dead host first.`,
        { cause: error },
      )
    throw new VitrineError('internal', `The group ${name} cannot be created: ${errorText(error)}.`, {
      cause: error,
    })
  }
}

async function setLimits(
  { root }: UsableGroups,
  folder: string,
  limits: MachineLimits,
  wanted: readonly Limit[],
): Promise<void> {
  for (const { limit, file, value, optional } of limitWrites(root.version, limits)) {
    if (!wanted.includes(limit)) continue
    try {
      await writeFile(join(folder, file), value)
    } catch (error) {
      if (optional) continue
      const what = `The ${limit} limit cannot be set to ${value}`
      throw new VitrineError('unsupported', `${what}: ${errorText(error)}.`, { cause: error })
    }
  }
}
