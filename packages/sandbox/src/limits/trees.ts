import type { ProcessRows } from '../machine/kill-inside.ts'

/** The processes inside a machine that one command started, or that an ended command left behind. */
export interface CommandTree {
  /** The id of the running command; undefined for processes left behind. */
  readonly process?: string
  /** Of processes left behind, the session. Each command has a session of its own. */
  readonly session?: number
  readonly pids: readonly number[]
  /** Processes and threads, with those that have ended and that their parent has not waited for. */
  readonly size: number
}

/** Groups the processes inside by the running command that they descend from. `tops` are the tops of the commands' trees. */
export function commandTrees(
  inside: ProcessRows,
  table: ProcessRows,
  tops: ReadonlyMap<number, string>,
): CommandTree[] {
  const ownerOf = (pid: number): string | undefined => {
    const seen = new Set<number>()
    for (let at = table.get(pid); at !== undefined && !seen.has(at.pid); at = table.get(at.parent)) {
      const owner = tops.get(at.pid)
      if (owner !== undefined) return owner
      seen.add(at.pid)
    }
    return undefined
  }
  const members = [...inside.values()].filter(({ pid }) => !tops.has(pid))
  const endedChildren = Map.groupBy(
    [...table.values()].filter(({ ended }) => ended),
    ({ parent }) => parent,
  )
  return [...Map.groupBy(members, ({ pid, session }) => ownerOf(pid) ?? session)].map(([owner, rows]) => ({
    ...(typeof owner === 'string' ? { process: owner } : { session: owner }),
    pids: rows.map(({ pid }) => pid),
    size: rows.reduce((sum, { pid, threads }) => sum + threads + (endedChildren.get(pid)?.length ?? 0), 0),
  }))
}

/**
 * The trees that use up a limit of processes: the largest, if it has at least half of them, or else everything left behind,
 * if that is so much: processes may leave their session.
 */
export function treesUsingUp(trees: readonly CommandTree[], max: number): readonly CommandTree[] {
  const isMuch = (some: readonly CommandTree[]) => some.reduce((sum, { size }) => sum + size, 0) * 2 >= max
  const largest = trees.toSorted((a, b) => b.size - a.size).slice(0, 1)
  if (isMuch(largest)) return largest
  const left = leftBehind(trees)
  return isMuch(left) ? left : []
}

export function leftBehind(trees: readonly CommandTree[]): readonly CommandTree[] {
  return trees.filter(({ process }) => process === undefined)
}

export function isSameTree(one: CommandTree, other: CommandTree): boolean {
  return one.process === other.process && one.session === other.session
}

/** Whether a process started after another one. Within a clock tick, the later one has the higher pid. */
export function startedAfter(
  one: { readonly pid: number; readonly startedAt: number } | undefined,
  other: { readonly pid: number; readonly startedAt: number },
): boolean {
  if (one === undefined || one.pid === other.pid) return false
  return one.startedAt === other.startedAt ? one.pid > other.pid : one.startedAt > other.startedAt
}
