import { setTimeout as sleep } from 'node:timers/promises'
import { killMembers, send } from './kill-tree.ts'
import { descendantsOf, type ProcessRow, readProcessTable, readRow } from './process-table.ts'

type Table = ReadonlyMap<number, ProcessRow>
const pollMs = 10

/** A supervisor process. The start time identifies it, since the kernel reuses pids. */
export interface Supervisor {
  readonly pid: number
  readonly startedAt: number
}

export function supervisorAt(pid: number): Supervisor {
  return { pid, startedAt: readRow(pid)?.startedAt ?? -1 }
}

function isAlive({ pid, startedAt }: Supervisor): boolean {
  const row = pid > 1 ? readRow(pid) : undefined
  return row !== undefined && !row.ended && row.startedAt === startedAt
}

function commandOf({ pid }: Supervisor, table: Table): ProcessRow | undefined {
  return [...table.values()]
    .filter(({ parent }) => parent === pid)
    .toSorted((a, b) => a.startedAt - b.startedAt || a.pid - b.pid)[0]
}

export function signalSupervised(
  supervisor: Supervisor,
  name: NodeJS.Signals,
  scope: 'program' | 'tree',
): void {
  if (!isAlive(supervisor)) return
  const table = readProcessTable()
  const command = commandOf(supervisor, table)
  if (scope === 'tree') for (const pid of descendantsOf([supervisor.pid], table)) send(pid, name)
  else if (command !== undefined && !command.ended) send(command.pid, name)
}

/** Kills the supervisor's descendants. Resolves to false if the supervisor has ended already. */
export function killSupervised(supervisor: Supervisor): Promise<boolean> {
  return whileStopped(supervisor, () => killMembers((table) => descendantsOf([supervisor.pid], table)))
}

export async function stopSupervised(supervisor: Supervisor, graceMs: number): Promise<boolean> {
  return whileStopped(supervisor, async () => {
    const table = readProcessTable()
    const command = commandOf(supervisor, table)
    for (const pid of descendantsOf([supervisor.pid], table)) send(pid, 'SIGTERM')
    const until = performance.now() + graceMs
    while (command !== undefined && performance.now() < until && readRow(command.pid)?.ended === false)
      await sleep(pollMs)
    await killMembers((now) => descendantsOf([supervisor.pid], now))
  })
}

async function whileStopped(supervisor: Supervisor, work: () => Promise<void>): Promise<boolean> {
  if (!isAlive(supervisor) || !send(supervisor.pid, 'SIGSTOP')) return false
  try {
    await work()
    return true
  } finally {
    if (mayBeAlive(supervisor)) send(supervisor.pid, 'SIGCONT')
  }
}

function mayBeAlive(supervisor: Supervisor): boolean {
  try {
    return isAlive(supervisor)
  } catch {
    return true
  }
}
