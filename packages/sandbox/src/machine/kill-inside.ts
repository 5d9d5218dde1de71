import { setTimeout as sleep } from 'node:timers/promises'
import type { Cgroup } from '../cgroups/cgroup.ts'
import { killMembers, send } from './kill-tree.ts'
import { type ProcessRow, readProcessTable, readRow } from './process-table.ts'

const waitMs = 3_000
/** A zombie still counts as a process; its parent may never reap it. */
const reapMs = 500

export type ProcessRows = ReadonlyMap<number, ProcessRow>
/** Chooses some of the processes inside a machine. */
export type ChooseProcesses = (inside: ProcessRows, table: ProcessRows) => Iterable<number>

/**
 * Kills the chosen ones of a machine's processes and resolves to their number. Where the machine can be frozen, it is: a
 * process that forks and exits in turn cannot get away, and no new process is missed.
 */
export async function killInside(
  membersOf: (table: ProcessRows) => Iterable<number>,
  group: Pick<Cgroup, 'freeze' | 'thaw'> | undefined,
  choose: ChooseProcesses,
): Promise<number> {
  const chosenIn = (table: ProcessRows) => [...choose(inside(table, membersOf(table)), table)]
  const frozen = group !== undefined && (await freezes(group))
  if (!frozen) {
    const killed = new Set<number>()
    await killMembers((table) => {
      const chosen = chosenIn(table)
      for (const pid of chosen) killed.add(pid)
      return chosen
    })
    return killed.size
  }
  let killed: readonly ProcessRow[]
  try {
    const table = readProcessTable()
    killed = chosenIn(table).flatMap((pid) => table.get(pid) ?? [])
    for (const { pid } of killed) send(pid, 'SIGKILL')
  } finally {
    await group.thaw()
  }
  const began = performance.now()
  const isWithin = (ms: number) => performance.now() - began < ms
  while (isWithin(waitMs) && killed.some((row) => isPresent(row, isWithin(reapMs)))) await sleep(2)
  return killed.length
}

function inside(table: ProcessRows, members: Iterable<number>): ProcessRows {
  return new Map(
    [...members].flatMap((pid) => (table.get(pid)?.ended === false ? [[pid, table.get(pid)!]] : [])),
  )
}

async function freezes(group: Pick<Cgroup, 'freeze'>): Promise<boolean> {
  try {
    await group.freeze()
    return true
  } catch {
    return false
  }
}

function isPresent({ pid, startedAt }: ProcessRow, countsZombies: boolean): boolean {
  const row = readRow(pid)
  return row !== undefined && row.startedAt === startedAt && (countsZombies || !row.ended)
}
