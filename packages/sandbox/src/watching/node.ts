import type { EntryStat } from './entry-stat.ts'
import { type Image, untouched } from './image.ts'

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

/** Yields all descendants, innermost first. */
export function* descendants(node: TreeNode): Generator<TreeNode> {
  for (const child of [...(node.children?.values() ?? [])]) {
    yield* descendants(child)
    yield child
  }
}

export function pathIn(directory: TreeNode, name: string): string {
  return directory.parent === undefined ? name : `${directory.path}/${name}`
}
