import { statfsSync } from 'node:fs'
import { deletedBytes } from './deleted-files.ts'
import { diskUsage } from './disk-usage.ts'

const leastPauseMs = 1_000
/** Added while no command runs. */
const idlePauseMs = 30_000
/** Measuring takes at most this part of the time. */
const share = 20

/** Measures the disk space of a sandbox's folders, at most a twentieth of the time. */
export class DiskAccount {
  readonly max: number
  readonly #folders: readonly string[]
  readonly #pids: () => Promise<readonly number[]>
  readonly #closed = new AbortController()
  #used = 0
  #free = 0
  #due = Number.NEGATIVE_INFINITY
  #measuring: Promise<boolean> | undefined

  /** `pids` are the processes whose deleted files count. */
  constructor(
    folders: readonly string[],
    max: number,
    pids: () => Promise<readonly number[]> = async () => [],
  ) {
    this.#folders = folders
    this.#pids = pids
    this.max = max
  }

  /** The bytes that the last measurement found. */
  get used(): number {
    return this.#used
  }

  get isOver(): boolean {
    return this.#used > this.max
  }

  /** Whether to measure now: it is time, or the host's disk lost more space than the sandbox had left. */
  isDue(isIdle: boolean): boolean {
    if (this.#measuring !== undefined) return false
    const due = this.#due + (isIdle ? idlePauseMs : 0)
    if (performance.now() >= due) return true
    return !this.isOver && this.#free - freeBytes(this.#folders) > this.max - this.#used
  }

  /** Measures, and resolves to whether the folders are over the limit. Concurrent calls share one measurement. */
  measure(): Promise<boolean> {
    this.#measuring ??= this.#measure().finally(() => {
      this.#measuring = undefined
    })
    return this.#measuring
  }

  close(): void {
    this.#closed.abort()
  }

  async #measure(): Promise<boolean> {
    const began = performance.now()
    const free = freeBytes(this.#folders)
    const { signal } = this.#closed
    const kept = await diskUsage(this.#folders, signal)
    this.#used = kept + (await deletedBytes(await this.#pids(), this.#folders, signal))
    this.#free = free
    const ended = performance.now()
    this.#due = ended + Math.max(leastPauseMs, (ended - began) * share)
    return this.isOver
  }
}

/** The free space of the file systems of some folders; a file system of several folders counts once. */
function freeBytes(folders: readonly string[]): number {
  const free = new Map<string, number>()
  for (const folder of folders) {
    try {
      const { type, blocks, bsize, bfree } = statfsSync(folder)
      free.set(`${type}:${blocks}`, bfree * bsize)
    } catch {
      // It does not exist yet.
    }
  }
  return [...free.values()].reduce((sum, bytes) => sum + bytes, 0)
}
