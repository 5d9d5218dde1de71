import { readdirSync, readFileSync } from 'node:fs'

/** A process as itself: a pid alone may be another's later. */
export interface ProcessIdentity {
  readonly pid: number
  readonly command: string
  readonly started: string
}

/** What carries the mark of this sandbox, and everything that was started by it. */
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

/** The process that a sandbox knows by this pid: behind a wall pids are its own. */
export function processInside(sandbox: string, pid: number): ProcessIdentity | undefined {
  const known = processesOf(sandbox).map((seen) => ({ seen, pids: pidsOf(seen.pid) }))
  const [outermost] = known
    .filter(({ pids }) => pids.at(-1) === pid)
    .toSorted((one, other) => one.pids.length - other.pids.length)
  return outermost?.seen
}

/** In each of its namespaces, from here inwards. */
function pidsOf(pid: number): number[] {
  const [, line = ''] = /^NSpid:\s*(.*)$/m.exec(read(pid, 'status')) ?? []
  return line.split(/\s+/).map(Number)
}

/** A process and everything that was started by it. */
export function treeOf(pid: number): ProcessIdentity[] {
  const all = running()
  return withDescendants(
    all.filter((one) => one.pid === pid),
    all,
  )
}

/** Whose command line has this text; arguments are joined with a space. */
export function processesWith(text: string): ProcessIdentity[] {
  return running().filter(({ command }) => command.includes(text))
}

/** Those of them that are still there. */
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

/** Nothing for what has ended, also where nobody has taken note of it yet. */
function statOf(pid: number): { readonly parent: number; readonly started: string } | undefined {
  const text = read(pid, 'stat')
  // The name comes in parentheses, and may have some itself.
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
