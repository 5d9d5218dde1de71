import { statfsSync } from 'node:fs'
import type { ReachedLimit } from '@vitrine/protocol'

const mostLeft = 1024 * 1024

type LimitName = ReachedLimit['limit']

/** Whether a file system has no room: a write of a few pages may still succeed, one of more fails. */
export function isFull({ bsize, blocks, bavail, files, ffree }: FileSystemState): boolean {
  return bavail * bsize < Math.min(mostLeft, (blocks * bsize) / 100) || (files > 0 && ffree === 0)
}

export type FileSystemState = Readonly<Record<'bsize' | 'blocks' | 'bavail' | 'files' | 'ffree', number>>

/** Whether the file system of a folder is full; false if that cannot be read. */
export function isFullAt(folder: string): boolean {
  try {
    return isFull(statfsSync(folder))
  } catch {
    return false
  }
}

/** A limit, and the folders whose file systems it limits. */
export type LimitedFolders = readonly [limit: LimitName, folders: readonly string[]]

/** The file systems of a sandbox, and since when they are full. */
export class FullFileSystems {
  readonly #watched: readonly LimitedFolders[]
  readonly #since = new Map<LimitName, number>()

  constructor(watched: readonly LimitedFolders[]) {
    this.#watched = watched
  }

  /** Looks at all of them, and returns the limits that are reached now and those that are not. */
  look(): { readonly full: readonly LimitName[]; readonly free: readonly LimitName[] } {
    for (const [limit, folders] of this.#watched)
      if (!folders.some(isFullAt)) this.#since.delete(limit)
      else if (!this.#since.has(limit)) this.#since.set(limit, performance.now())
    const limits = this.#watched.map(([limit]) => limit)
    return {
      full: limits.filter((limit) => this.#since.has(limit)),
      free: limits.filter((limit) => !this.#since.has(limit)),
    }
  }

  /** The limit that was reached after a time of `performance.now()`. */
  fullSince(time: number): LimitName | undefined {
    return [...this.#since].find(([, since]) => since >= time)?.[0]
  }
}
