import type { FileKind } from '@vitrine/protocol'
import type { Image } from './change.ts'

/** What is remembered of one thing on disk. */
export interface Seen {
  readonly kind: FileKind
  readonly ino: number
  /** When the inode was made; 0 where the file system does not say. */
  readonly born: number
  readonly mode: number
  readonly size: number
  readonly modified: number
  readonly changed: number
  readonly links: number
  readonly owner: number
  readonly group: number
}

/** Of a file that nobody has written to since it was first seen. */
export const untouched: Image = Object.freeze({ unkept: 'unchanged' })

/** A thing in the tree, as it was seen last. */
export class Node {
  parent: Node | undefined
  name: string
  seen: Seen
  /** Below a directory. */
  children: Map<string, Node> | undefined
  /** Where its content is kept. */
  image: Image = untouched
  /** Tells contents apart that have the same times. */
  digest: string | undefined
  /** It was looked at so soon after a change that the next one may have the same time. */
  fresh = false
  /** A directory that was looked through. Until then nothing is known of what is below. */
  entered = false
  /** Lets go of the kernel's watch. */
  unwatch: (() => void) | undefined

  constructor(parent: Node | undefined, name: string, seen: Seen) {
    this.parent = parent
    this.name = name
    this.seen = seen
    if (seen.kind === 'directory') this.children = new Map()
  }

  /** From the root. */
  get path(): string {
    const { parent } = this
    if (parent === undefined) return ''
    return parent.parent === undefined ? this.name : `${parent.path}/${this.name}`
  }

  get depth(): number {
    return this.parent === undefined ? 0 : this.parent.depth + 1
  }

  isWithin(ancestor: Node): boolean {
    for (let at: Node | undefined = this; at !== undefined; at = at.parent) if (at === ancestor) return true
    return false
  }
}

/** Whether two sights are of one and the same thing, wherever its name has gone. */
export function isSame(a: Seen, b: Seen): boolean {
  if (a.ino !== b.ino || a.kind !== b.kind) return false
  if (a.born !== 0 && b.born !== 0) return a.born === b.born
  // Numbers are given again. A directory's times say nothing.
  return a.kind === 'directory' || (a.modified === b.modified && a.size === b.size)
}

/** Whether something that is still the same thing has another content or other rights. */
export function differs(a: Seen, b: Seen): 'no' | 'perhaps' | 'yes' {
  if (a.mode !== b.mode || a.owner !== b.owner || a.group !== b.group) return 'yes'
  if (a.kind === 'directory') return 'no'
  if (a.size !== b.size || a.modified !== b.modified) return 'yes'
  // A time that was put back, or only another name for it.
  return a.changed === b.changed ? 'no' : 'perhaps'
}
