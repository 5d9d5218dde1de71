import type { TimeSlice } from '@vitrine/archives'
import { type Emit, EntryChanges } from './entry-changes.ts'
import { type EntryCheck, readChecks } from './entry-checks.ts'
import { differs, type EntryStat, isSameEntry } from './entry-stat.ts'
import { ContentReader } from './file-content.ts'
import { KnownTree } from './known-tree.ts'
import type { TreeNode } from './node.ts'
import { type RoundOptions, TreeRound } from './tree-round.ts'

export interface TreeOptions extends RoundOptions {
  /** Files up to this size are read and compared by content. */
  readonly imageBytes: number
}

/** Names to check in each directory; `null` means the whole directory. */
type DirtyNames = ReadonlyMap<TreeNode, ReadonlySet<string> | null>

/**
 * The known state of the workspace. It is compared with the disk for names that may have changed. Every event is a
 * difference between the two, so there is no event without a change.
 */
export class Tree {
  readonly #options: TreeOptions
  readonly #known: KnownTree
  readonly #contents: ContentReader

  constructor(options: TreeOptions, root: EntryStat) {
    this.#options = options
    this.#known = new KnownTree(root)
    this.#contents = new ContentReader(options.disk, options.imageBytes)
  }

  get root(): TreeNode {
    return this.#known.root
  }

  get entries(): number {
    return this.#known.entries
  }

  /** All known directories. */
  directories(): Generator<TreeNode> {
    return this.#known.directories()
  }

  /** Scans the workspace without emitting changes. */
  async initialScan(timeSlice: TimeSlice): Promise<void> {
    await new TreeRound(this.#options, this.#known, undefined, timeSlice).enter(this.root)
  }

  /** Checks names and emits the changes. Returns the directories that were not at their known path. */
  async check(
    dirty: DirtyNames,
    emit: Emit,
    timeSlice: TimeSlice,
  ): Promise<Map<TreeNode, ReadonlySet<string> | null>> {
    const changes = new EntryChanges(this.#known, this.#contents, this.#options.ignored, emit)
    const round = new TreeRound(this.#options, this.#known, changes, timeSlice)
    const later = new Map<TreeNode, ReadonlySet<string> | null>()
    const checks: EntryCheck[] = []
    // Outer directories first.
    for (const [directory, names] of [...dirty].toSorted(([a], [b]) => a.depth - b.depth)) {
      if (timeSlice.expired) await timeSlice.yieldToEventLoop()
      if (!this.#known.has(directory)) continue
      const found = await readChecks(this.#options, directory, names, timeSlice)
      if (found === undefined) later.set(directory, names)
      else for (const check of found) checks.push(check)
    }
    await round.applyAll(checks)
    await this.#recheckScheduled(round, later, timeSlice)
    return later
  }

  async #recheckScheduled(
    round: TreeRound,
    later: Map<TreeNode, ReadonlySet<string> | null>,
    timeSlice: TimeSlice,
  ): Promise<void> {
    for (const [directory, names] of this.#known.takeRechecks()) {
      if (!this.#known.has(directory)) continue
      const checks = await readChecks(this.#options, directory, names, timeSlice)
      const more = later.get(directory)
      if (checks === undefined && more !== null) later.set(directory, new Set([...(more ?? []), ...names]))
      for (const check of checks ?? []) if (!isUnchanged(check)) await round.apply(check)
    }
  }

  close(): void {
    for (const directory of this.directories()) directory.unwatch?.()
  }
}

function isUnchanged({ directory, name, now }: EntryCheck): boolean {
  const known = directory.children?.get(name)
  return (
    known !== undefined &&
    now !== undefined &&
    isSameEntry(known.stat, now) &&
    differs(known.stat, now) === 'no'
  )
}
