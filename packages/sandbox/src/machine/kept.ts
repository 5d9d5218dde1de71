import { setTimeout as sleep } from 'node:timers/promises'
import { killMembers, send } from './kill-tree.ts'
import { descendantsOf, type ProcessRow, readProcessTable } from './process-table.ts'

type Table = ReadonlyMap<number, ProcessRow>

const pollMs = 10

/** The command of a keeper: what the keeper adopted was born later. */
function commandOf(keeper: number, table: Table): ProcessRow | undefined {
  return [...table.values()]
    .filter(({ parent }) => parent === keeper)
    .toSorted((a, b) => a.startedAt - b.startedAt || a.pid - b.pid)[0]
}

export function signalKept(keeper: number, name: NodeJS.Signals, reach: 'program' | 'tree'): void {
  const table = readProcessTable()
  const command = commandOf(keeper, table)
  if (reach === 'tree') for (const pid of descendantsOf([keeper], table)) send(pid, name)
  else if (command !== undefined && !command.ended) send(command.pid, name)
}

/** Everything below a keeper. While it stands still it cannot leave, and whatever loses its parent stays below it. */
export async function killKept(keeper: number): Promise<void> {
  if (!send(keeper, 'SIGSTOP')) return
  await killMembers((table) => descendantsOf([keeper], table))
  send(keeper, 'SIGCONT')
}

/** Asks everything below a keeper to end; what is left when its command has ended, or after a while, is killed. */
export async function stopKept(keeper: number, graceMs: number): Promise<void> {
  if (!send(keeper, 'SIGSTOP')) return
  const table = readProcessTable()
  for (const pid of descendantsOf([keeper], table)) send(pid, 'SIGTERM')
  const until = performance.now() + graceMs
  while (performance.now() < until && commandOf(keeper, readProcessTable())?.ended === false)
    await sleep(pollMs)
  await killMembers((now) => descendantsOf([keeper], now))
  send(keeper, 'SIGCONT')
}
