import { dirname } from 'node:path'
import { type MachineLimits, VitrineError } from '@vitrine/protocol'
import type { CgroupAccess } from '../cgroups/access.ts'
import type { Cgroup } from '../cgroups/cgroup.ts'
import { createCgroup } from '../cgroups/create.ts'
import { freshGroupName } from '../cgroups/name.ts'
import type { Degradation } from './machine.ts'

const kinds = [
  ['memoryBytes', 'memory'],
  ['cpus', 'cpu'],
  ['pids', 'pids'],
] as const

/** Creates the control group of a sandbox with the supported limits, and reports the others in `degraded`. */
export async function limitedGroup(
  access: CgroupAccess,
  ownerTag: string,
  limits: MachineLimits,
): Promise<{ readonly group?: Cgroup; readonly degraded: readonly Degradation[] }> {
  const granted: { -readonly [K in keyof MachineLimits]: MachineLimits[K] } = {}
  const degraded: Degradation[] = []
  for (const [key, kind] of kinds) {
    const limit = limits[key]
    if (limit === undefined) continue
    if (access[kind]) granted[key] = limit
    else
      degraded.push({
        feature: `limits.${key}`,
        reason: access.reasons[kind] ?? 'no control group supports it',
      })
  }
  if (!access.kill) return { degraded }
  try {
    return { group: await createCgroup(access, freshGroupName(ownerTag), granted), degraded }
  } catch (error) {
    if (Object.keys(granted).length > 0) throw error
    const reason = error instanceof VitrineError ? error.message : String(error)
    return { degraded: [...degraded, { feature: 'cgroup', reason }] }
  }
}

export function limitKinds(access: CgroupAccess): ('memory' | 'cpu' | 'pids')[] {
  return kinds.map(([, kind]) => kind).filter((kind) => access[kind])
}

export function groupFolders(group: Cgroup | undefined): string[] {
  return (group?.paths ?? []).map((path) => dirname(path))
}
