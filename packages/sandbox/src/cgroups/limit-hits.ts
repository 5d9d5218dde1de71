import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Group } from './group.ts'
import { parseMeasure } from './usage.ts'

/** How often each limit of a group was hit since the group exists; a limit that is not set is missing. */
export interface LimitHits {
  /** Processes that the kernel killed because the group had no memory left. */
  readonly memoryBytes?: number
  /** Processes and threads that could not be created. */
  readonly pids?: number
}

type HitKind = keyof LimitHits

/** The larger count of each limit. */
export function latestHits(one: LimitHits, other: LimitHits): LimitHits {
  return {
    memoryBytes: Math.max(one.memoryBytes ?? 0, other.memoryBytes ?? 0),
    pids: Math.max(one.pids ?? 0, other.pids ?? 0),
  }
}

/** The file of each counter, and the word before its number. */
const counters: Record<Group['version'], readonly (readonly [HitKind, file: string, word: string])[]> = {
  1: [
    ['memoryBytes', 'memory.oom_control', 'oom_kill'],
    ['pids', 'pids.events', 'max'],
  ],
  2: [
    ['memoryBytes', 'memory.events', 'oom_kill'],
    ['pids', 'pids.events', 'max'],
  ],
}

interface OpenCounter {
  readonly kind: HitKind
  readonly word: string
  readonly fd: number
}

/** Reads the counters of a group. Their files stay open, because they are read at the start and the end of each command. */
export class LimitCounters {
  readonly #open: OpenCounter[]
  #pidsInUse: number | undefined
  readonly #buffer = Buffer.alloc(512)

  constructor(groups: readonly Group[], limits: readonly HitKind[]) {
    this.#open = groups.flatMap(({ version, folder }) =>
      counters[version].flatMap(([kind, file, word]) => {
        const fd = limits.includes(kind) ? opened(join(folder, file)) : undefined
        if (kind === 'pids' && fd !== undefined) this.#pidsInUse = opened(join(folder, 'pids.current'))
        return fd === undefined ? [] : [{ kind, word, fd }]
      }),
    )
  }

  /** The processes and threads of the group. */
  pidsInUse(): number | undefined {
    return this.#pidsInUse === undefined ? undefined : parseMeasure(this.#textOf(this.#pidsInUse), '')
  }

  read(): LimitHits {
    const hits: Partial<Record<HitKind, number>> = {}
    for (const { kind, word, fd } of this.#open) {
      const value = parseMeasure(this.#textOf(fd), word)
      if (value !== undefined) hits[kind] ??= value
    }
    return hits
  }

  close(): void {
    for (const { fd } of this.#open.splice(0)) closeSync(fd)
    if (this.#pidsInUse !== undefined) closeSync(this.#pidsInUse)
    this.#pidsInUse = undefined
  }

  #textOf(fd: number): string {
    try {
      return this.#buffer.toString('latin1', 0, readSync(fd, this.#buffer, 0, this.#buffer.length, 0))
    } catch {
      return ''
    }
  }
}

function opened(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch {
    return undefined
  }
}
