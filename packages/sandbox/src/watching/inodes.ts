import type { Node } from './node.ts'

/** What is known, by the number that the file system gives a thing and keeps when it is moved. */
export class Inodes {
  readonly #nodes = new Map<number, Node>()
  /** All names of a file that has several. The kernel tells of a change under the one name that it was made by. */
  readonly #names = new Map<number, Set<Node>>()

  at(ino: number): Node | undefined {
    return this.#nodes.get(ino)
  }

  add(node: Node): void {
    const { ino, kind } = node.seen
    const other = this.#nodes.get(ino)
    this.#nodes.set(ino, node)
    if (other === undefined || other === node || kind === 'directory') return
    const names = this.#names.get(ino) ?? new Set([other])
    this.#names.set(ino, names.add(node))
  }

  forget(node: Node): void {
    const { ino } = node.seen
    const names = this.#names.get(ino)
    names?.delete(node)
    if (names !== undefined && names.size < 2) this.#names.delete(ino)
    if (this.#nodes.get(ino) !== node) return
    const [other] = names ?? []
    if (other === undefined) this.#nodes.delete(ino)
    else this.#nodes.set(ino, other)
  }

  /** The same file under its other names. */
  others(node: Node): Node[] {
    return [...(this.#names.get(node.seen.ino) ?? [])].filter((other) => other !== node)
  }
}
