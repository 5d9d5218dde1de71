import { setTimeout as sleep } from 'node:timers/promises'
import { killMembers, send } from '../../../packages/sandbox/src/machine/kill-tree.ts'
import {
  carriesMarker,
  descendantsOf,
  type ProcessRow,
  readProcessTable,
} from '../../../packages/sandbox/src/machine/process-table.ts'

const variable = 'VITRINE_BENCH_RUN'
const graceMs = 3_000
const pollMs = 20

type ProcessTable = ReadonlyMap<number, ProcessRow>

/** The environment variable that the processes of a run inherit. */
export function runMarker(run: string): Readonly<Record<string, string>> {
  return { [variable]: run }
}

/** The descendants of a process now. They include a sandbox's guard, which does not have the marker. */
export function processesBelow(pid: number): ProcessRow[] {
  const table = processTable()
  return [...descendantsOf([pid], table)].map((below) => table.get(below)!)
}

/**
 * Ends the remaining processes of a run: those with its marker, their descendants, and `known`. First sends SIGTERM to
 * the topmost processes with the marker: a daemon then ends its sandboxes itself, and the guard of a killed host ends
 * the rest.
 */
export async function endProcesses(run: string, known: readonly ProcessRow[]): Promise<void> {
  const table = processTable()
  const marked = new Set(markedBy(run, table))
  for (const pid of marked) if (!marked.has(table.get(pid)?.parent ?? 0)) send(pid, 'SIGTERM')
  const leftIn = (now: ProcessTable) => [...markedBy(run, now), ...stillRunning(known, now)]
  for (const until = performance.now() + graceMs; performance.now() < until; await sleep(pollMs))
    if (leftIn(processTable()).length === 0) return
  await killMembers(leftIn)
}

function markedBy(run: string, table: ProcessTable): number[] {
  const marker = `${variable}=${run}`
  const marked = [...table.keys()].filter((pid) => pid !== process.pid && carriesMarker(pid, marker))
  return [...marked, ...descendantsOf(marked, table)].filter((pid) => table.get(pid)?.ended === false)
}

/** The known processes that still run. Compares start times, since the kernel reuses pids. */
function stillRunning(known: readonly ProcessRow[], table: ProcessTable): number[] {
  return known
    .filter(({ pid, startedAt }) => table.get(pid)?.startedAt === startedAt && !table.get(pid)?.ended)
    .map(({ pid }) => pid)
}

/** Empty on systems other than Linux, where only the run's own process is ended. */
function processTable(): ProcessTable {
  return process.platform === 'linux' ? readProcessTable() : new Map()
}
