import { type EntryStat, isSameEntry } from './entry-stat.ts'
import { InodeIndex } from './inode-index.ts'
import { TreeNode } from './node.ts'

/** Timestamps of file systems have a resolution of up to 10 ms. */
const freshMs = 20

/** The last known state of the workspace: its nodes by path and by inode, and the names to check again. */
export class KnownTree {
  readonly root: TreeNode
  readonly #inodes = new InodeIndex()
  /** Names to check again although there was no notice about them. */
  #rechecks = new Map<TreeNode, Set<string>>()
  #entries = 0

  constructor(root: EntryStat) {
    this.root = new TreeNode(undefined, '', root)
  }

  /** The number of nodes below the root. */
  get entries(): number {
    return this.#entries
  }

  has(node: TreeNode): boolean {
    return node.isWithin(this.root)
  }

  /** Yields a directory and all known directories below it. */
  *directories(node: TreeNode = this.root): Generator<TreeNode> {
    yield node
    for (const child of node.children?.values() ?? []) if (child.children) yield* this.directories(child)
  }

  /** Finds the node of a file by its inode, under whatever name. */
  nodeOf(stat: EntryStat): TreeNode | undefined {
    const node = this.#inodes.at(stat.ino)
    return node !== undefined && isSameEntry(node.stat, stat) && this.has(node) ? node : undefined
  }

  add(directory: TreeNode, name: string, now: EntryStat): TreeNode {
    this.#entries += 1
    const node = new TreeNode(directory, name, now)
    node.fresh = isFresh(now)
    directory.children!.set(name, node)
    this.indexInode(node)
    return node
  }

  /** Moves a node with everything below it. */
  move(node: TreeNode, directory: TreeNode, name: string): void {
    node.parent!.children!.delete(node.name)
    node.parent = directory
    node.name = name
    directory.children!.set(name, node)
  }

  /** Removes a node with everything below it. */
  drop(node: TreeNode): void {
    for (const child of [...(node.children?.values() ?? [])]) this.drop(child)
    node.unwatch?.()
    node.unwatch = undefined
    this.unindexInode(node)
    if (node.parent?.children?.get(node.name) === node) {
      node.parent.children.delete(node.name)
      this.#entries -= 1
    }
    node.parent = undefined
  }

  /** Sets the known state of a node. */
  remember(node: TreeNode, now: EntryStat, digest: string | undefined): void {
    node.stat = now
    this.#recheckOtherLinks(node)
    node.fresh = isFresh(now)
    node.digest = digest
  }

  indexInode(node: TreeNode): void {
    this.#inodes.add(node)
    this.#recheckOtherLinks(node)
  }

  unindexInode(node: TreeNode): void {
    this.#recheckOtherLinks(node)
    this.#inodes.forget(node)
  }

  scheduleRecheck(directory: TreeNode, name: string): void {
    const names = this.#rechecks.get(directory) ?? new Set()
    this.#rechecks.set(directory, names.add(name))
  }

  /** Returns the scheduled rechecks and forgets them. */
  takeRechecks(): ReadonlyMap<TreeNode, ReadonlySet<string>> {
    const rechecks = this.#rechecks
    this.#rechecks = new Map()
    return rechecks
  }

  /** A change through one hard link affects all of them. */
  #recheckOtherLinks(node: TreeNode): void {
    for (const other of this.#inodes.otherLinks(node))
      if (other.parent !== undefined) this.scheduleRecheck(other.parent, other.name)
  }
}

function isFresh({ changed }: EntryStat): boolean {
  return Date.now() - changed < freshMs
}
