import type { FileKind } from '@vitrine/protocol'
import type { Image } from './change.ts'

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

/** The image of a file that was not written to since the initial scan. */
export const untouched: Image = Object.freeze({ omitted: 'unchanged' })

/** An entry of the tree, in its last known state. */
export class TreeNode {
  parent: TreeNode | undefined
  name: string
  stat: EntryStat
  /** Set for directories. */
  children: Map<string, TreeNode> | undefined
  image: Image = untouched
  /** Distinguishes contents with equal timestamps. */
  digest: string | undefined
  /** The entry was read so soon after a change that a further change may have the same timestamp. */
  fresh = false
  /** The directory was scanned. Until then, its children are unknown. */
  entered = false
  /** Stops the kernel watch. */
  unwatch: (() => void) | undefined

  constructor(parent: TreeNode | undefined, name: string, stat: EntryStat) {
    this.parent = parent
    this.name = name
    this.stat = stat
    if (stat.kind === 'directory') this.children = new Map()
  }

  /** Relative to the root. */
  get path(): string {
    const { parent } = this
    if (parent === undefined) return ''
    return parent.parent === undefined ? this.name : `${parent.path}/${this.name}`
  }

  get depth(): number {
    return this.parent === undefined ? 0 : this.parent.depth + 1
  }

  isWithin(ancestor: TreeNode): boolean {
    for (let at: TreeNode | undefined = this; at !== undefined; at = at.parent)
      if (at === ancestor) return true
    return false
  }
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
