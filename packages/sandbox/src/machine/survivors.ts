import type { OpenWork } from '@vitrine/protocol'
import { findCgroups } from '../cgroups/access.ts'
import { groupPrefix } from '../cgroups/name.ts'
import { sweepCgroups } from '../cgroups/sweep.ts'
import { killMembers } from './kill-tree.ts'
import { carriesMarker, descendantsOf } from './process-table.ts'

const variable = 'VITRINE_SANDBOX'

/** What every process of a sandbox carries in its environment. */
export function sandboxMarker(id: string): Readonly<Record<string, string>> {
  return { [variable]: id }
}

/** Everything with the marker of this sandbox, and what it started. */
export function markedBy(id: string, pids: Iterable<number>): number[] {
  const marker = `${variable}=${id}`
  return [...pids].filter((pid) => pid !== process.pid && carriesMarker(pid, marker))
}

/**
 * Ends what a dead host's sandboxes still run. The guard has done it already, unless it was killed as well.
 *
 * @example
 * const store = await openStore(sqliteStore({ path }), { sweep: endSurvivors })
 */
export async function endSurvivors(open: readonly OpenWork[]): Promise<void> {
  const sandboxes = new Set(
    open.flatMap(({ context: { sandbox } }) => (sandbox === undefined ? [] : [sandbox])),
  )
  if (sandboxes.size === 0 || process.platform !== 'linux') return
  const cgroups = await findCgroups()
  for (const id of sandboxes) {
    await killMembers((table) => {
      const marked = markedBy(id, table.keys())
      return new Set([...marked, ...descendantsOf(marked, table)])
    })
    if (cgroups.kill) await sweepCgroups(cgroups, groupPrefix(id))
  }
}
