import { readdirSync, readFileSync } from 'node:fs'

/** Identifies a process by pid and start time: the kernel reuses pids. */
export interface ProcessIdentity {
  readonly pid: number
  readonly command: string
  readonly started: string
}

/** The processes with the sandbox's marker in their environment, and all their descendants. */
export function processesOf(sandbox: string): ProcessIdentity[] {
  const mark = `VITRINE_SANDBOX=${sandbox}@`
  const all = running()
  const own = all.filter(({ pid }) =>
    read(pid, 'environ')
      .split('\0')
      .some((entry) => entry.startsWith(mark)),
  )
  return withDescendants(own, all)
}

/** Finds a process by its pid inside the sandbox, which differs from its pid here in a PID namespace. */
export function processInside(sandbox: string, pid: number): ProcessIdentity | undefined {
  const known = processesOf(sandbox).map((seen) => ({ seen, pids: pidsOf(seen.pid) }))
  const [outermost] = known
    .filter(({ pids }) => pids.at(-1) === pid)
    .toSorted((one, other) => one.pids.length - other.pids.length)
  return outermost?.seen
}

/** The pids of a process in each of its PID namespaces, from the outermost to the innermost. */
function pidsOf(pid: number): number[] {
  const [, line = ''] = /^NSpid:\s*(.*)$/m.exec(read(pid, 'status')) ?? []
  return line.split(/\s+/).map(Number)
}

/** A process and all its descendants. */
export function treeOf(pid: number): ProcessIdentity[] {
  const all = running()
  return withDescendants(
    all.filter((one) => one.pid === pid),
    all,
  )
}

/** The processes whose command line, joined with spaces, contains a text. */
export function processesWith(text: string): ProcessIdentity[] {
  return running().filter(({ command }) => command.includes(text))
}

/** The given processes that still run. */
export function stillRunning(seen: Iterable<ProcessIdentity>): ProcessIdentity[] {
  return [...seen].filter(({ pid, started }) => statOf(pid)?.started === started)
}

function running(): (ProcessIdentity & { readonly parent: number })[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const pid = Number(name)
      const stat = statOf(pid)
      const command = read(pid, 'cmdline').replaceAll('\0', ' ').trim()
      return stat === undefined ? [] : [{ pid, command, ...stat }]
    })
}

function withDescendants(
  roots: readonly ProcessIdentity[],
  all: readonly (ProcessIdentity & { parent: number })[],
): ProcessIdentity[] {
  const found = new Map(roots.map((one) => [one.pid, one]))
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const one of all) if (found.has(one.parent)) found.set(one.pid, one)
  }
  return [...found.values()].map(({ pid, command, started }) => ({ pid, command, started }))
}

/** Undefined for a process that has ended, also if its parent has not reaped it yet. */
function statOf(pid: number): { readonly parent: number; readonly started: string } | undefined {
  const text = read(pid, 'stat')
  // The name is in parentheses and can contain parentheses itself.
  const [state, parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  if (text === '' || state === 'Z' || state === 'X') return undefined
  return { parent: Number(parent), started: rest[17] ?? '' }
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}
