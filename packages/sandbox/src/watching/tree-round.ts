import type { TimeSlice } from '@vitrine/archives'
import { isVitrineError } from '@vitrine/protocol'
import type { OpenDirectory } from './disk.ts'
import type { EntryChanges } from './entry-changes.ts'
import { type CheckOptions, cannotRead, type EntryCheck, isIgnored } from './entry-checks.ts'
import { type EntryStat, isSameEntry } from './entry-stat.ts'
import type { KnownTree } from './known-tree.ts'
import { pathIn, type TreeNode } from './node.ts'

/** Every directory is opened from the root down, so each level costs as many opens as it is deep. */
const maxDepth = 256

export interface RoundOptions extends CheckOptions {
  readonly maxEntries: number
  /** Receives the kernel's notices about a directory; absent if the tree is polled. */
  readonly onNotice?: (node: TreeNode, name: string | null) => void
}

/** One round of checks. Each check is applied once. */
export class TreeRound {
  readonly #options: RoundOptions
  readonly #known: KnownTree
  /** Absent in the initial scan, which emits no changes. */
  readonly #changes: EntryChanges | undefined
  readonly #timeSlice: TimeSlice
  /** The checks of entries that exist now, by inode number. */
  readonly #appearing = new Map<number, EntryCheck>()
  readonly #inProgress = new Set<EntryCheck>()
  readonly #done = new Set<EntryCheck>()

  constructor(
    options: RoundOptions,
    known: KnownTree,
    changes: EntryChanges | undefined,
    timeSlice: TimeSlice,
  ) {
    this.#options = options
    this.#known = known
    this.#changes = changes
    this.#timeSlice = timeSlice
  }

  /** Applies checks that belong together: moves between their directories are recognised. */
  async applyAll(checks: readonly EntryCheck[]): Promise<void> {
    for (const check of checks) if (check.now !== undefined) this.#appearing.set(check.now.ino, check)
    for (const check of checks) if (check.now !== undefined) await this.apply(check)
    for (const check of checks) if (check.now === undefined) await this.apply(check)
  }

  async apply(check: EntryCheck): Promise<void> {
    if (this.#changes === undefined || this.#done.has(check) || this.#inProgress.has(check)) return
    this.#inProgress.add(check)
    if (this.#timeSlice.expired) await this.#timeSlice.yieldToEventLoop()
    await this.#applyNow(this.#changes, check)
    this.#done.add(check)
  }

  async #applyNow(changes: EntryChanges, { directory, name, now }: EntryCheck): Promise<void> {
    if (!this.#known.has(directory)) return
    const known = directory.children!.get(name)
    if (known !== undefined && now !== undefined && isSameEntry(known.stat, now)) {
      await changes.compare(known, now)
      if (known.children !== undefined && !known.entered) await this.enter(known)
      return
    }
    // If the entry that had this name was moved, apply the move first.
    if (known !== undefined) await this.#applyMovesOutOf(known)
    const left = directory.children!.get(name)
    if (now === undefined) {
      if (left !== undefined) await changes.delete(left)
      return
    }
    const from = this.#previousNode(now)
    // A directory cannot move into itself or replace its ancestor; a state that looks so becomes a delete and a create.
    if (from !== undefined && !directory.isWithin(from) && !(left !== undefined && from.isWithin(left))) {
      await changes.move(from, directory, name, now, left)
      for (const moved of [...this.#known.directories(from)])
        if (moved.children !== undefined && !moved.entered) await this.enter(moved)
    } else if (left !== undefined && left.stat.kind === now.kind) {
      await changes.replace(left, now)
      if (now.kind === 'directory') await this.enter(left)
    } else {
      if (left !== undefined) await changes.delete(left)
      const node = this.#add(directory, name, now)
      if (node === undefined) return
      await changes.create(node)
      if (node.stat.kind === 'directory') await this.enter(node)
    }
  }

  /** Applies the checks of this round in which the node, or a descendant, appears at another path. */
  async #applyMovesOutOf(node: TreeNode): Promise<void> {
    const check = this.#appearing.get(node.stat.ino)
    if (check?.now !== undefined && isSameEntry(check.now, node.stat)) await this.apply(check)
    for (const child of [...(node.children?.values() ?? [])]) await this.#applyMovesOutOf(child)
  }

  /** Finds the node that an entry was moved from: same file, and no longer at the known path. */
  #previousNode(now: EntryStat): TreeNode | undefined {
    const node = this.#known.nodeOf(now)
    if (node?.parent === undefined) return undefined
    let open: OpenDirectory | undefined
    try {
      open = this.#options.disk.open(node.parent)
      const there = open?.stat(node.name)
      // The old name still exists, so the new one is a hard link.
      if (there !== undefined && there.ino === now.ino) return undefined
      return node
    } catch {
      return undefined
    } finally {
      open?.close()
    }
  }

  /** Watches a directory before scanning it, so that no change in between is missed; it may be seen twice. */
  async enter(node: TreeNode, above?: OpenDirectory): Promise<void> {
    if (node.depth >= maxDepth) {
      this.#options.onUncovered(node.path, `Only ${maxDepth} levels of directories are followed.`)
      return
    }
    let open: OpenDirectory | undefined
    try {
      open = above === undefined ? this.#options.disk.open(node) : above.enter(node.name)
      // The directory was moved or removed; it is entered when it is found again.
      if (open === undefined) return
      node.entered = true
      node.unwatch?.()
      this.#watch(node, open)
      await this.#scan(node, open)
    } catch (error) {
      if (isVitrineError(error)) throw error
      cannotRead(this.#options, node, error)
    } finally {
      open?.close()
    }
  }

  async #scan(directory: TreeNode, open: OpenDirectory): Promise<void> {
    const missing = new Set(directory.children?.keys())
    for (const name of open.names()) {
      if (this.#timeSlice.expired) await this.#timeSlice.yieldToEventLoop()
      missing.delete(name)
      if (isIgnored(this.#options, directory, name)) continue
      const now = open.stat(name)
      if (now === undefined) continue
      if (this.#changes !== undefined) await this.apply({ directory, name, now })
      else {
        const node = this.#add(directory, name, now)
        if (node?.children !== undefined) await this.enter(node, open)
      }
    }
    for (const name of missing) await this.apply({ directory, name, now: undefined })
  }

  #add(directory: TreeNode, name: string, now: EntryStat): TreeNode | undefined {
    const { maxEntries } = this.#options
    if (this.#known.entries < maxEntries) return this.#known.add(directory, name, now)
    const path = now.kind === 'directory' ? pathIn(directory, name) : directory.path
    this.#options.onUncovered(path, `Only ${maxEntries} entries are followed (watch.maxEntries).`)
    return undefined
  }

  #watch(node: TreeNode, open: OpenDirectory): void {
    const { onNotice } = this.#options
    if (onNotice === undefined) return
    const watching = open.watch((name) => onNotice(node, name))
    if (typeof watching === 'function') node.unwatch = watching
    else this.#options.onUncovered(node.path, watching.reason)
  }
}
