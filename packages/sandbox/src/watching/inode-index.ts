import type { TreeNode } from './node.ts'

/** Indexes the nodes of the tree by inode number, which does not change when a file is moved. */
export class InodeIndex {
  readonly #nodes = new Map<number, TreeNode>()
  /** All nodes of a file with hard links. The kernel reports a change only under the name it was made through. */
  readonly #names = new Map<number, Set<TreeNode>>()

  at(ino: number): TreeNode | undefined {
    return this.#nodes.get(ino)
  }

  add(node: TreeNode): void {
    const { ino, kind } = node.stat
    const other = this.#nodes.get(ino)
    this.#nodes.set(ino, node)
    if (other === undefined || other === node || kind === 'directory') return
    const names = this.#names.get(ino) ?? new Set([other])
    this.#names.set(ino, names.add(node))
  }

  forget(node: TreeNode): void {
    const { ino } = node.stat
    const names = this.#names.get(ino)
    names?.delete(node)
    if (names !== undefined && names.size < 2) this.#names.delete(ino)
    if (this.#nodes.get(ino) !== node) return
    const [other] = names ?? []
    if (other === undefined) this.#nodes.delete(ino)
    else this.#nodes.set(ino, other)
  }

  /** The other hard links of the same file. */
  otherLinks(node: TreeNode): TreeNode[] {
    return [...(this.#names.get(node.stat.ino) ?? [])].filter((other) => other !== node)
  }
}
