import { type Change, changeOf, deletionOf, sameImages } from './change.ts'
import { isIdenticalReplacement, isRewritten, isUnmodified, mayBeRewritten } from './content-comparison.ts'
import { differs, type EntryStat } from './entry-stat.ts'
import type { ContentReader, DigestedContent } from './file-content.ts'
import type { Ignored } from './ignore.ts'
import { changedImage, type ImageChoice, newImage } from './image-choice.ts'
import type { KnownTree } from './known-tree.ts'
import { descendants, pathIn, type TreeNode } from './node.ts'

export type Emit = (change: Change) => Promise<void> | void

/** Brings one entry of the known tree to its current state, and emits the changes that this takes. */
export class EntryChanges {
  readonly #known: KnownTree
  readonly #contents: ContentReader
  readonly #ignored: Ignored
  readonly #emit: Emit

  constructor(known: KnownTree, contents: ContentReader, ignored: Ignored, emit: Emit) {
    this.#known = known
    this.#contents = contents
    this.#ignored = ignored
    this.#emit = emit
  }

  /** The same file at the same path. */
  async compare(node: TreeNode, found: EntryStat): Promise<void> {
    if (differs(node.stat, found) === 'no' && !(node.fresh && found.kind === 'file')) return
    const content = this.#contents.read(node, found)
    const now = content?.stat ?? found
    if (isUnmodified(node, now, content)) this.#known.remember(node, now, content?.digest ?? node.digest)
    else await this.#changed(node, now, content)
  }

  /** Another file of the same kind at the same path. A replaced directory has to be entered again. */
  async replace(node: TreeNode, found: EntryStat): Promise<void> {
    if (found.kind === 'directory') {
      const before = node.stat
      this.#known.unindexInode(node)
      node.unwatch?.()
      node.unwatch = undefined
      // If it cannot be entered now because it was moved meanwhile, it is entered when it is found again.
      node.entered = false
      this.#known.remember(node, found, undefined)
      this.#known.indexInode(node)
      if (differs(before, found) === 'yes') await this.#emit(changeOf('changed', node))
      return
    }
    const content = this.#contents.read(node, found)
    const now = content?.stat ?? found
    this.#known.unindexInode(node)
    if (isIdenticalReplacement(node, now, content)) this.#known.remember(node, now, content?.digest)
    else await this.#changed(node, now, content)
    this.#known.indexInode(node)
  }

  async #changed(node: TreeNode, now: EntryStat, content: DigestedContent | undefined): Promise<void> {
    const before = node.image
    const chosen = now.kind === 'file' && changedImage(node, now.size, content, this.#contents.maxBytes)
    this.#known.remember(node, now, content?.digest)
    if (chosen) node.image = chosen.after
    await this.#emit({ ...changeOf('changed', node), ...(chosen && { before, ...chosen }) })
  }

  /** A node that was just added. */
  async create(node: TreeNode): Promise<void> {
    const found = node.stat
    const content = this.#contents.read(node, found)
    const now = content?.stat ?? found
    this.#known.remember(node, now, content?.digest)
    await this.#emit({
      ...changeOf('created', node),
      ...(now.kind === 'file' && this.#setNewImage(node, now, content)),
    })
  }

  /** The same file at another path, where it replaced another entry or none. */
  async move(
    node: TreeNode,
    directory: TreeNode,
    name: string,
    found: EntryStat,
    replaced: TreeNode | undefined,
  ): Promise<void> {
    if (replaced !== undefined) await this.#endReplaced(replaced, found)
    if (this.#ignored.byPath) await this.#deleteIgnored(node, pathIn(directory, name))
    // A file with hard links may still exist under the old name, e.g. if its directory was moved.
    if (found.links > 1 && found.kind !== 'directory') this.#known.scheduleRecheck(node.parent!, node.name)
    const previousPath = node.path
    const entries = [...descendants(node)].map((entry) => ({ entry, previousPath: entry.path }))
    this.#known.move(node, directory, name)
    for (const { entry, previousPath: was } of entries)
      await this.#emit({ ...changeOf('moved', entry), previousPath: was, ...sameImages(entry) })
    await this.#emitMoved(node, previousPath, found)
  }

  /** The move event implies the replaced entry's end, but entries below it need their own delete events. */
  async #endReplaced(replaced: TreeNode, { kind }: EntryStat): Promise<void> {
    if (replaced.stat.kind !== kind) {
      await this.delete(replaced)
      return
    }
    for (const entry of [...descendants(replaced)]) await this.#emit(deletionOf(entry, entry.path))
    this.#known.drop(replaced)
  }

  async #emitMoved(node: TreeNode, previousPath: string, found: EntryStat): Promise<void> {
    const content = mayBeRewritten(node, found) ? this.#contents.read(node, found) : undefined
    const now = content?.stat ?? found
    const rewritten = isRewritten(node, now, content)
    const before = node.image
    this.#known.remember(node, now, rewritten ? content?.digest : node.digest)
    await this.#emit({
      ...changeOf('moved', node),
      previousPath,
      ...(rewritten ? { before, ...this.#setNewImage(node, now, content) } : sameImages(node)),
    })
  }

  /** Deletes descendants whose path is ignored after a move. The next scan finds those that are no longer ignored. */
  async #deleteIgnored(node: TreeNode, path: string): Promise<void> {
    node.entered = false
    for (const child of [...(node.children?.values() ?? [])]) {
      const next = `${path}/${child.name}`
      if (this.#ignored(next, child.name)) await this.delete(child)
      else await this.#deleteIgnored(child, next)
    }
  }

  async delete(node: TreeNode): Promise<void> {
    const path = node.path
    for (const entry of descendants(node)) await this.#emit(deletionOf(entry, entry.path))
    this.#known.drop(node)
    await this.#emit(deletionOf(node, path))
  }

  #setNewImage(node: TreeNode, now: EntryStat, content: DigestedContent | undefined): ImageChoice {
    const chosen = newImage(node.name, now.size, content, this.#contents.maxBytes)
    node.image = chosen.after
    return chosen
  }
}
