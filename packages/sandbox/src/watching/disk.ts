import type { EntryStat } from './entry-stat.ts'
import type { TreeNode } from './node.ts'

/** Access to the workspace's current state. An unreadable entry throws, so that it is not taken for a missing one. */
export interface Disk {
  /** Opens a directory of the tree; undefined if it was removed or replaced. */
  open(node: TreeNode): OpenDirectory | undefined
}

export interface WatchedContent {
  readonly bytes: Uint8Array
  /** The attributes that belong to these bytes, if the disk knows them: the file may change after `stat`. */
  readonly stat?: EntryStat | undefined
}

export interface OpenDirectory {
  names(): string[]
  stat(name: string): EntryStat | undefined
  /** Opens a subdirectory; undefined if the entry is not a directory. */
  enter(name: string): OpenDirectory | undefined
  /** Reads a regular file; undefined if it is larger than `maxBytes` or cannot be read. */
  read(name: string, maxBytes: number): WatchedContent | undefined
  /** Starts a kernel watch and returns a function that stops it, or the reason why there is no watch. */
  watch(onNotice: (name: string | null) => void): (() => void) | { readonly reason: string }
  close(): void
}
