import { setTimeout as sleep } from 'node:timers/promises'
import { killMembers, send } from '../../../packages/sandbox/src/machine/kill-tree.ts'
import {
  carriesMarker,
  descendantsOf,
  type ProcessRow,
  readProcessTable,
} from '../../../packages/sandbox/src/machine/process-table.ts'

const variable = 'VITRINE_BENCH_RUN'
const politeMs = 3_000
const pollMs = 20

/** The variable that every process of a run inherits. */
export function runMarker(run: string): Readonly<Record<string, string>> {
  return { [variable]: run }
}

/** Everything that still runs of a run: all that inherited its marker, and all below them. */
function processesOf(run: string, table = readProcessTable()): number[] {
  const marker = `${variable}=${run}`
  const marked = [...table.keys()].filter((pid) => pid !== process.pid && carriesMarker(pid, marker))
  return [...new Set([...marked, ...descendantsOf(marked, table)])].filter((pid) => isAlive(table.get(pid)))
}

/**
 * Ends what a run has left. The topmost processes are asked first: a daemon then ends its sandboxes itself, and the
 * guard of a sandbox whose host was killed ends what does not carry the marker.
 */
export async function endProcesses(run: string): Promise<void> {
  // Elsewhere there is no process table to look into.
  if (process.platform !== 'linux') return
  const table = readProcessTable()
  const left = new Set(processesOf(run, table))
  for (const pid of left) if (!left.has(table.get(pid)?.parent ?? 0)) send(pid, 'SIGTERM')
  for (const until = performance.now() + politeMs; performance.now() < until; await sleep(pollMs))
    if (processesOf(run).length === 0) return
  await killMembers((now) => processesOf(run, now))
}

function isAlive(row: ProcessRow | undefined): boolean {
  return row?.ended === false
}
