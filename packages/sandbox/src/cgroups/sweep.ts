import { basename } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import type { CgroupAccess } from './access.ts'
import { groupsParent, subfolders, unmakeFolder } from './folders.ts'
import { killGroup } from './kill.ts'

/**
 * Kills and removes the groups that a dead host left, which have this name prefix. Other groups may belong to a running
 * host, even empty ones: a group is empty until its first process joins.
 *
 * @returns the names of the removed groups.
 */
export async function sweepCgroups({ hierarchies }: CgroupAccess, prefix: string): Promise<string[]> {
  if (prefix === '')
    throw new VitrineError('argument_invalid', 'prefix: expected a name prefix, got an empty string.')
  const names = new Set<string>()
  for (const { root, abilities } of hierarchies) {
    for (const folder of await subfolders(groupsParent(root))) {
      if (!basename(folder).startsWith(prefix)) continue
      names.add(basename(folder))
      await killGroup({ version: root.version, folder, abilities })
      await unmakeFolder(folder)
    }
  }
  return [...names]
}
