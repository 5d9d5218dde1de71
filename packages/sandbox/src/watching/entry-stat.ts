import type { FileKind } from '@vitrine/protocol'

/** The stored attributes of an entry on disk. */
export interface EntryStat {
  readonly kind: FileKind
  readonly ino: number
  /** Creation time of the inode; 0 if the file system has none. */
  readonly born: number
  readonly mode: number
  readonly size: number
  readonly modified: number
  readonly changed: number
  readonly links: number
  readonly owner: number
  readonly group: number
}

/** Whether two states belong to the same file, under whatever name. */
export function isSameEntry(a: EntryStat, b: EntryStat): boolean {
  if (a.ino !== b.ino || a.kind !== b.kind) return false
  if (a.born !== 0 && b.born !== 0) return a.born === b.born
  // Inode numbers are reused, so times and size must match too. A directory's times change with its entries.
  return a.kind === 'directory' || (a.modified === b.modified && a.size === b.size)
}

/** Whether the content or the permissions of a file differ between two states. */
export function differs(a: EntryStat, b: EntryStat): 'no' | 'perhaps' | 'yes' {
  if (a.mode !== b.mode || a.owner !== b.owner || a.group !== b.group) return 'yes'
  if (a.kind === 'directory') return 'no'
  if (a.size !== b.size || a.modified !== b.modified) return 'yes'
  // Only the ctime differs: the mtime was reset after a write, or a hard link was added or removed.
  return a.changed === b.changed ? 'no' : 'perhaps'
}
