import { TimeSlice } from '@vitrine/archives'
import { Serial } from '@vitrine/protocol/primitives'
import { withoutOperation } from '../without-operation.ts'
import type { TreeNode } from './node.ts'
import type { ChangeRecorder } from './recorder.ts'
import type { Tree } from './tree.ts'

type Dirty = Map<TreeNode, Set<string> | null>

/** Maximum number of rounds in which directories that could not be opened are tried again. */
const maxRounds = 20
/** A directory with more dirty names than this is checked as a whole. */
const maxNames = 100_000

/** Collects names that may have changed and checks them in rounds, one at a time. */
export class Rescanner {
  readonly #tree: Tree
  readonly #recorder: ChangeRecorder
  readonly #signal: AbortSignal
  readonly #serial = new Serial()
  #dirty: Dirty = new Map()

  constructor(tree: Tree, recorder: ChangeRecorder, signal: AbortSignal) {
    this.#tree = tree
    this.#recorder = recorder
    this.#signal = signal
  }

  get pending(): boolean {
    return this.#dirty.size > 0
  }

  /** Marks a name as possibly changed; `null` marks the whole directory. */
  markUncertain(node: TreeNode, name: string | null): void {
    if (name === null) {
      this.#dirty.set(node, null)
      return
    }
    const names = this.#dirty.get(node)
    if (names === null) return
    if (names === undefined) this.#dirty.set(node, new Set([name]))
    else if (names.size < maxNames) names.add(name)
    else this.#dirty.set(node, null)
  }

  markAll(): void {
    for (const directory of this.#tree.directories()) this.#dirty.set(directory, null)
  }

  /** Scans the whole tree without events. Names marked meanwhile are checked afterwards. */
  initialScan(): Promise<void> {
    return this.#enqueue(() => this.#tree.initialScan(new TimeSlice(this.#signal)))
  }

  /** Resolves once every name marked before the call is checked and the changes found are committed. */
  checkAndFlush(): Promise<void> {
    return this.#enqueue(async () => {
      await this.#checkDirty()
      await this.#recorder.flush()
    })
  }

  /** Checks the marked names without committing the changes: more changes of the same files may follow. */
  check(): Promise<void> {
    return this.#enqueue(() => this.#checkDirty())
  }

  #enqueue(run: () => Promise<void>): Promise<void> {
    // Watches and timers created here outlive the operation that triggered them.
    return withoutOperation(() => this.#serial.run(run))
  }

  async #checkDirty(): Promise<void> {
    const timeSlice = new TimeSlice(this.#signal)
    for (let round = 1; this.#dirty.size > 0; round += 1) {
      const dirty = this.#dirty
      this.#dirty = new Map()
      const later = await this.#checkRound(dirty, timeSlice)
      if (round === maxRounds) break
      for (const [node, names] of later) {
        // The directory is not at its known path, so its parent has changed too.
        if (node.parent !== undefined) this.markUncertain(node.parent, node.name)
        if (names === null) this.markUncertain(node, null)
        else for (const name of names) this.markUncertain(node, name)
      }
      if (later.size === dirty.size && round > 2) break
    }
  }

  /** Marks the names again if the round fails, so that the next round repeats it. */
  async #checkRound(dirty: Dirty, timeSlice: TimeSlice): ReturnType<Tree['check']> {
    try {
      return await this.#tree.check(dirty, (change) => this.#recorder.add(change), timeSlice)
    } catch (error) {
      for (const [node, names] of dirty)
        if (names === null) this.markUncertain(node, null)
        else for (const name of names) this.markUncertain(node, name)
      throw error
    }
  }
}
