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

/** The limits of a machine, and which of them nobody asked for. */
export interface WantedLimits extends MachineLimits {
  /** Defaults: a machine that cannot enforce one of these is not degraded. */
  readonly defaults: readonly (keyof MachineLimits)[]
}

/** The limits that the kernel enforces on a machine. */
export type EnforcedLimits = {
  readonly [Name in 'memoryBytes' | 'cpus' | 'pids' | 'tmpBytes']?: number
}

export interface LimitedGroup {
  readonly group?: Cgroup
  readonly limits: EnforcedLimits
  readonly degraded: readonly Degradation[]
}

/** Creates the control group of a sandbox with the supported limits, and reports the others in `degraded`. */
export async function limitedGroup(
  access: CgroupAccess,
  ownerTag: string,
  wanted: WantedLimits,
): Promise<LimitedGroup> {
  const limits: { -readonly [Name in keyof EnforcedLimits]: number } = {}
  const degraded: Degradation[] = []
  for (const [key, kind] of kinds) {
    const limit = wanted[key]
    if (typeof limit !== 'number') continue
    if (access[kind]) limits[key] = limit
    else if (!wanted.defaults.includes(key))
      degraded.push({
        feature: `limits.${key}`,
        reason: access.reasons[kind] ?? 'no control group supports it',
      })
  }
  if (!access.kill) return { limits: {}, degraded }
  try {
    return { group: await createCgroup(access, freshGroupName(ownerTag), limits), limits, degraded }
  } catch (error) {
    if (Object.keys(limits).some((key) => !wanted.defaults.some((one) => one === key))) throw error
    const reason = error instanceof VitrineError ? error.message : String(error)
    return { limits: {}, degraded: [...degraded, { feature: 'cgroup', reason }] }
  }
}

export function limitKinds(access: CgroupAccess): ('memory' | 'cpu' | 'pids')[] {
  return kinds.map(([, kind]) => kind).filter((kind) => access[kind])
}

export function groupFolders(group: Cgroup | undefined): string[] {
  return (group?.paths ?? []).map((path) => dirname(path))
}
