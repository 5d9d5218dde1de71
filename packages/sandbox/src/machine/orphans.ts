import { createHash } from 'node:crypto'
import type { OpenWork } from '@vitrine/protocol'
import { findCgroups } from '../cgroups/access.ts'
import { groupPrefix } from '../cgroups/name.ts'
import { sweepCgroups } from '../cgroups/sweep.ts'
import { dataDirectory } from '../data-directory.ts'
import { killMembers } from './kill-tree.ts'
import { carriesMarker, descendantsOf } from './process-table.ts'

const markerVariable = 'VITRINE_SANDBOX'

/** Identifies a sandbox on this machine: a sandbox of another data directory may have the same id. */
export function ownerTagOf(sandbox: string, data: string): string {
  return `${sandbox}@${createHash('sha256').update(data).digest('hex').slice(0, 12)}`
}

/** The environment variable that every process of a sandbox carries. */
export function sandboxMarker(ownerTag: string): Readonly<Record<string, string>> {
  return { [markerVariable]: ownerTag }
}

/** The processes that carry this sandbox's marker. */
export function markedBy(ownerTag: string, pids: Iterable<number>): number[] {
  const marker = `${markerVariable}=${ownerTag}`
  return [...pids].filter((pid) => pid !== process.pid && carriesMarker(pid, marker))
}

/**
 * Kills the processes that the sandboxes of a dead host left running. The guard has done so already, unless it was killed
 * too.
 * `data` is the data directory of these sandboxes, as for `local`.
 *
 * @example
 * const store = await openStore(sqliteStore({ path }), { killOrphans: (open) => killOrphans(open) })
 */
export async function killOrphans(open: readonly OpenWork[], data?: string): Promise<void> {
  const sandboxes = new Set(
    open.flatMap(({ context: { sandbox } }) => (sandbox === undefined ? [] : [sandbox])),
  )
  if (sandboxes.size === 0 || process.platform !== 'linux') return
  const cgroups = await findCgroups()
  const directory = dataDirectory(data)
  for (const id of sandboxes) {
    const ownerTag = ownerTagOf(id, directory)
    await killMembers((table) => {
      const marked = markedBy(ownerTag, table.keys())
      return new Set([...marked, ...descendantsOf(marked, table)])
    })
    if (cgroups.kill) await sweepCgroups(cgroups, groupPrefix(ownerTag))
  }
}
