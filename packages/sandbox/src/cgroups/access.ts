import { readFile } from 'node:fs/promises'
import { errorText } from './file-errors.ts'
import { hierarchies } from './layout.ts'
import { parseMounts } from './mounts.ts'
import { parsePositions } from './positions.ts'
import { type Ability, probe, type UsableGroups } from './probe.ts'

/** The control group features that this process may use, and the reasons why others are missing. */
export interface CgroupAccess {
  readonly memory: boolean
  readonly cpu: boolean
  readonly pids: boolean
  readonly freeze: boolean
  readonly kill: boolean
  /** A reason for each feature that is false. */
  readonly reasons: Readonly<Record<string, string>>
  /** The hierarchies in which groups can be created; v2 first. */
  readonly hierarchies: readonly UsableGroups[]
}

const abilities: readonly Ability[] = ['memory', 'cpu', 'pids', 'freeze', 'kill']

/**
 * Probes the features by creating and removing a group in each hierarchy.
 *
 * @example
 * const access = await findCgroups()
 * if (!access.memory) console.warn(access.reasons.memory)
 */
export async function findCgroups(): Promise<CgroupAccess> {
  const found: UsableGroups[] = []
  const reasons = new Map<string, string>()
  let refusal = 'no cgroup file system is mounted'
  try {
    const [mountinfo, own] = await Promise.all([
      readFile('/proc/self/mountinfo', 'utf8'),
      readFile('/proc/self/cgroup', 'utf8'),
    ])
    for (const hierarchy of hierarchies(parseMounts(mountinfo), parsePositions(own))) {
      const result = await probe(hierarchy)
      if (typeof result === 'string') {
        refusal = result
        for (const name of hierarchy.controllers) reasons.set(name === 'freezer' ? 'freeze' : name, result)
      } else {
        found.push(result)
        for (const [ability, reason] of result.reasons) reasons.set(ability, reason)
      }
    }
  } catch (error) {
    refusal = errorText(error)
  }
  return summary(found, reasons, refusal)
}

function summary(
  found: readonly UsableGroups[],
  reasons: ReadonlyMap<string, string>,
  refusal: string,
): CgroupAccess {
  const can = (ability: Ability) => provider(found, ability) !== undefined
  // Every hierarchy lists its processes, which can then be killed one by one.
  const kill = found.length > 0
  const has = { memory: can('memory'), cpu: can('cpu'), pids: can('pids'), freeze: can('freeze'), kill }
  const missing = abilities.filter((ability) => !has[ability])
  return {
    ...has,
    reasons: Object.fromEntries(missing.map((ability) => [ability, reasons.get(ability) ?? refusal])),
    hierarchies: found,
  }
}

export function provider(found: readonly UsableGroups[], ability: Ability): UsableGroups | undefined {
  return found.find((one) => one.abilities.has(ability))
}

/** The hierarchy that tracks a sandbox's processes: preferably one that can freeze them. */
export function tracker({ hierarchies }: CgroupAccess): UsableGroups | undefined {
  return provider(hierarchies, 'freeze') ?? provider(hierarchies, 'kill') ?? hierarchies[0]
}
