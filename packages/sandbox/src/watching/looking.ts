import { TimeSlice } from '../files/time-slice.ts'
import { withoutOperation } from '../without-operation.ts'
import type { Node } from './node.ts'
import type { ChangeRecorder } from './recorder.ts'
import type { Tree } from './tree.ts'

type Dirty = Map<Node, Set<string> | null>

/** What could not be reached so often is looked for from its parent. */
const maxRounds = 20
/** A directory with more names than this is looked through as a whole. */
const maxNames = 100_000

/** Collects names that may have changed and looks at them, one round at a time. */
export class Looking {
  readonly #tree: Tree
  readonly #recorder: ChangeRecorder
  readonly #signal: AbortSignal
  #dirty: Dirty = new Map()
  #rounds: Promise<void> = Promise.resolve()

  constructor(tree: Tree, recorder: ChangeRecorder, signal: AbortSignal) {
    this.#tree = tree
    this.#recorder = recorder
    this.#signal = signal
  }

  get pending(): boolean {
    return this.#dirty.size > 0
  }

  /** `null` for all of a directory. */
  mark(node: Node, name: string | null): void {
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

  /** Learns what there is. What is marked meanwhile is looked at afterwards. */
  begin(): Promise<void> {
    return this.#inTurn(() => this.#tree.begin(new TimeSlice(this.#signal)))
  }

  /** Once everything that is marked by now has been looked at and what was found is committed. */
  now(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#look()
      await this.#recorder.flush()
    })
  }

  /** The same, and what was found still waits: more about the same files may follow. */
  ahead(): Promise<void> {
    return this.#inTurn(() => this.#look())
  }

  #inTurn(run: () => Promise<void>): Promise<void> {
    // Watches and timers that are made here live longer than the call that somebody waits in.
    const turn = withoutOperation(() => this.#rounds.then(run))
    this.#rounds = turn.catch(() => undefined)
    return turn
  }

  async #look(): Promise<void> {
    const pace = new TimeSlice(this.#signal)
    for (let round = 1; this.#dirty.size > 0; round += 1) {
      const dirty = this.#dirty
      this.#dirty = new Map()
      const later = await this.#lookAt(dirty, pace)
      if (round === maxRounds) break
      for (const [node, names] of later) {
        // It is not where it should be: whatever holds it has changed as well.
        if (node.parent !== undefined) this.mark(node.parent, node.name)
        if (names === null) this.mark(node, null)
        else for (const name of names) this.mark(node, name)
      }
      if (later.size === dirty.size && round > 2) break
    }
  }

  /** What could not be looked at to its end is looked at again: nobody is told that it is done. */
  async #lookAt(dirty: Dirty, pace: TimeSlice): ReturnType<Tree['look']> {
    try {
      return await this.#tree.look(dirty, (change) => this.#recorder.tell(change), pace)
    } catch (error) {
      for (const [node, names] of dirty)
        if (names === null) this.mark(node, null)
        else for (const name of names) this.mark(node, name)
      throw error
    }
  }
}
