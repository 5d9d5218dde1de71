import { setTimeout as sleep } from 'node:timers/promises'
import { killMembers, send } from './kill-tree.ts'
import { descendantsOf, type ProcessRow, readProcessTable } from './process-table.ts'

type Table = ReadonlyMap<number, ProcessRow>

const pollMs = 10

/** A keeper, and whose child it is: a process of that number with another parent is another process. */
export interface Kept {
  readonly keeper: number
  readonly parent: number
}

function isThere({ keeper, parent }: Kept, table: Table): boolean {
  const row = table.get(keeper)
  return row !== undefined && row.parent === parent && !row.ended
}

/** The command of a keeper: what the keeper adopted was born later. */
function commandOf(keeper: number, table: Table): ProcessRow | undefined {
  return [...table.values()]
    .filter(({ parent }) => parent === keeper)
    .toSorted((a, b) => a.startedAt - b.startedAt || a.pid - b.pid)[0]
}

export function signalKept(kept: Kept, name: NodeJS.Signals, reach: 'program' | 'tree'): void {
  const table = readProcessTable()
  if (!isThere(kept, table)) return
  const { keeper } = kept
  const command = commandOf(keeper, table)
  if (reach === 'tree') for (const pid of descendantsOf([keeper], table)) send(pid, name)
  else if (command !== undefined && !command.ended) send(command.pid, name)
}

/** Everything below a keeper. While it stands still it cannot leave, and whatever loses its parent stays below it. */
export async function killKept(kept: Kept): Promise<void> {
  await standingStill(kept, ({ keeper }) => killMembers((table) => descendantsOf([keeper], table)))
}

/** Asks everything below a keeper to end; what is left when its command has ended, or after a while, is killed. */
export async function stopKept(kept: Kept, graceMs: number): Promise<void> {
  await standingStill(kept, async ({ keeper }) => {
    for (const pid of descendantsOf([keeper], readProcessTable())) send(pid, 'SIGTERM')
    const until = performance.now() + graceMs
    while (performance.now() < until && commandOf(keeper, readProcessTable())?.ended === false)
      await sleep(pollMs)
    await killMembers((table) => descendantsOf([keeper], table))
  })
}

async function standingStill(kept: Kept, work: (kept: Kept) => Promise<void>): Promise<void> {
  if (!isThere(kept, readProcessTable()) || !send(kept.keeper, 'SIGSTOP')) return
  try {
    await work(kept)
  } finally {
    send(kept.keeper, 'SIGCONT')
  }
}
