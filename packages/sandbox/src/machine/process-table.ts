import { readdirSync, readFileSync } from 'node:fs'
import { systemErrorCode } from '@vitrine/protocol/primitives'

/** One row of the kernel's process table. */
export interface ProcessRow {
  readonly pid: number
  readonly parent: number
  readonly session: number
  readonly startedAt: number
  readonly threads: number
  readonly ended: boolean
}

/** Reads all visible processes synchronously: with pauses in between, the table would miss processes. */
export function readProcessTable(): ReadonlyMap<number, ProcessRow> {
  const table = new Map<number, ProcessRow>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    const row = readRow(pid)
    if (row !== undefined) table.set(pid, row)
  }
  return table
}

const goneCodes: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM'])

export function readRow(pid: number): ProcessRow | undefined {
  try {
    return parseRow(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch (error) {
    // Any other error, such as EMFILE, does not mean that the process is gone.
    if (goneCodes.has(systemErrorCode(error))) return undefined
    throw error
  }
}

/** Parses `/proc/<pid>/stat`. The name may contain any character, so fields are counted from the last parenthesis. */
export function parseRow(stat: string): ProcessRow | undefined {
  const pid = Number.parseInt(stat, 10)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, parent, , session] = fields
  const threads = fields[17]
  const startedAt = fields[19]
  if (!Number.isInteger(pid) || state === undefined || startedAt === undefined) return undefined
  return {
    pid,
    parent: Number(parent),
    session: Number(session),
    startedAt: Number(startedAt),
    threads: Number(threads),
    ended: state === 'Z' || state === 'X',
  }
}

/** All descendants of these processes, without the processes themselves. */
export function descendantsOf(roots: Iterable<number>, table: ReadonlyMap<number, ProcessRow>): Set<number> {
  const children = Map.groupBy(table.values(), ({ parent }) => parent)
  const found = new Set<number>()
  const queue = [...roots]
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    for (const child of children.get(pid) ?? []) {
      if (found.has(child.pid)) continue
      found.add(child.pid)
      queue.push(child.pid)
    }
  }
  return found
}

/** Whether a process was started with this variable; false if its environment may not be read. */
export function carriesMarker(pid: number, marker: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(marker)
  } catch {
    return false
  }
}
