import { setTimeout as sleep } from 'node:timers/promises'
import { killMembers, send } from './kill-tree.ts'
import { descendantsOf, type ProcessRow, readProcessTable, readRow } from './process-table.ts'

type Table = ReadonlyMap<number, ProcessRow>
const pollMs = 10

/** A number alone may be another process by now. */
export interface Keeper {
  readonly pid: number
  readonly startedAt: number
}

export function keeperAt(pid: number): Keeper {
  return { pid, startedAt: readRow(pid)?.startedAt ?? -1 }
}

function stands({ pid, startedAt }: Keeper): boolean {
  const row = pid > 1 ? readRow(pid) : undefined
  return row !== undefined && !row.ended && row.startedAt === startedAt
}

function commandOf({ pid }: Keeper, table: Table): ProcessRow | undefined {
  return [...table.values()]
    .filter(({ parent }) => parent === pid)
    .toSorted((a, b) => a.startedAt - b.startedAt || a.pid - b.pid)[0]
}

export function signalKept(keeper: Keeper, name: NodeJS.Signals, scope: 'program' | 'tree'): void {
  if (!stands(keeper)) return
  const table = readProcessTable()
  const command = commandOf(keeper, table)
  if (scope === 'tree') for (const pid of descendantsOf([keeper.pid], table)) send(pid, name)
  else if (command !== undefined && !command.ended) send(command.pid, name)
}

/** False when there was nothing left to kill. */
export function killKept(keeper: Keeper): Promise<boolean> {
  return still(keeper, () => killMembers((table) => descendantsOf([keeper.pid], table)))
}

export async function stopKept(keeper: Keeper, graceMs: number): Promise<boolean> {
  return still(keeper, async () => {
    const table = readProcessTable()
    const command = commandOf(keeper, table)
    for (const pid of descendantsOf([keeper.pid], table)) send(pid, 'SIGTERM')
    const until = performance.now() + graceMs
    while (command !== undefined && performance.now() < until && readRow(command.pid)?.ended === false)
      await sleep(pollMs)
    await killMembers((now) => descendantsOf([keeper.pid], now))
  })
}

async function still(keeper: Keeper, work: () => Promise<void>): Promise<boolean> {
  if (!stands(keeper) || !send(keeper.pid, 'SIGSTOP')) return false
  try {
    await work()
    return true
  } finally {
    if (mayStand(keeper)) send(keeper.pid, 'SIGCONT')
  }
}

function mayStand(keeper: Keeper): boolean {
  try {
    return stands(keeper)
  } catch {
    return true
  }
}
