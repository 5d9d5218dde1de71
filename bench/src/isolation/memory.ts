import { readdirSync, readFileSync } from 'node:fs'

/** Returns a function that measures the resident KiB of all descendants started since this call. */
export function measureNewDescendants(): () => number {
  const before = new Set(descendantsOf(process.pid))
  return () =>
    descendantsOf(process.pid)
      .filter((pid) => !before.has(pid))
      .reduce((sum, pid) => sum + residentKib(pid), 0)
}

function descendantsOf(root: number): number[] {
  const parents = new Map(
    readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0)
      .map((pid) => [pid, field(pid, 'PPid')]),
  )
  const found: number[] = []
  for (const pid of parents.keys()) {
    let at: number | undefined = pid
    while (at !== undefined && at !== root && at > 1) at = parents.get(at)
    if (at === root && pid !== root) found.push(pid)
  }
  return found
}

function residentKib(pid: number): number {
  return field(pid, 'VmRSS') ?? 0
}

function field(pid: number, name: string): number | undefined {
  try {
    const [, value] =
      new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
    return value === undefined ? undefined : Number(value)
  } catch {
    return undefined
  }
}
