import { type FSWatcher, mkdirSync, rmSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settledWithin } from '@vitrine/protocol/primitives'
import type { TreeNode } from './node.ts'
import { countNotice, onOverflow } from './overflow.ts'
import type { ChangeRecorder } from './recorder.ts'
import { Rescanner } from './rescanner.ts'
import type { Tree } from './tree.ts'

/** Changes of one path within this time become one event. */
const coalesceMs = 2
/** Waits for this long without a notice: the two notices of a rename arrive in quick succession. */
const quietMs = 0.5
/** Maximum time to wait for a quiet moment. */
const maxWaitMs = 10
/** Time after which a marker file's notice counts as lost. */
const barrierMs = 1_000

export interface NativeOptions {
  readonly tree: Tree
  readonly recorder: ChangeRecorder
  readonly signal: AbortSignal
  /** A folder that only the host can access, for marker files. */
  readonly marks: string
  failed(error: unknown): void
}

/** Uses kernel notices as hints about which names to check. */
export class NativeWatcher {
  readonly #options: NativeOptions
  readonly #rescanner: Rescanner
  readonly #removeOverflowListener: () => void
  readonly #barrier: QueueBarrier
  #due: number | undefined
  #lastNotice = 0
  #closing: Promise<void> | undefined

  constructor(options: NativeOptions) {
    this.#options = options
    this.#rescanner = new Rescanner(options.tree, options.recorder, options.signal)
    this.#barrier = new QueueBarrier(options.marks)
    this.#removeOverflowListener = onOverflow(() => {
      this.#rescanner.markAll()
      this.#schedule()
    })
  }

  start(): Promise<void> {
    return this.#rescanner.initialScan()
  }

  readonly onNotice = (node: TreeNode, name: string | null): void => {
    countNotice()
    // Node decodes a name that is not UTF-8 lossily, so the whole directory is checked.
    this.#rescanner.markUncertain(node, name === null || name.includes('\ufffd') ? null : name)
    this.#lastNotice = performance.now()
    this.#schedule()
  }

  async flush(): Promise<void> {
    if (!(await this.#barrier.wait())) this.#rescanner.markAll()
    // Wait until all notices of the read that contained the marker are counted: it may have been an overflow.
    await new Promise(setImmediate)
    await this.#rescanner.checkAndFlush()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    try {
      if (!this.#options.signal.aborted) await this.flush()
    } finally {
      this.#removeOverflowListener()
      this.#barrier.close()
      this.#options.tree.close()
    }
  }

  #schedule(): void {
    if (this.#due !== undefined || this.#closing !== undefined) return
    this.#due = performance.now() + coalesceMs
    // Timers have millisecond resolution and fire late, so the remaining time is spent in event loop turns.
    setTimeout(() => this.#wait(), coalesceMs - 1).unref()
  }

  #wait(): void {
    // `close()` does a last check itself.
    if (this.#closing !== undefined) return
    const now = performance.now()
    const quiet = now - this.#lastNotice >= quietMs || now >= this.#due! + maxWaitMs
    const { failed } = this.#options
    if (quiet && now >= this.#due!) {
      this.#due = undefined
      this.#rescanner.checkAndFlush().catch(failed)
      return
    }
    // Use the remaining time to check names that are quiet already.
    if (quiet && this.#rescanner.pending) this.#rescanner.check().catch(failed)
    setImmediate(() => this.#wait())
  }
}

/** Waits until all notices queued so far are delivered, by creating a marker file whose notice comes after them. */
class QueueBarrier {
  readonly #folder: string
  readonly #watcher: FSWatcher | undefined
  readonly #waiting = new Map<string, () => void>()
  #count = 0

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#folder = folder
    try {
      this.#watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name !== null) this.#waiting.get(name)?.()
      })
      this.#watcher.on('error', () => undefined)
    } catch {
      // No watch is available: every flush checks the whole tree instead.
    }
  }

  /** Resolves to true when the marker's notice arrives, to false if it was lost. */
  async wait(): Promise<boolean> {
    if (this.#watcher === undefined) return false
    this.#count += 1
    const name = String(this.#count)
    const { promise: delivered, resolve } = Promise.withResolvers<void>()
    this.#waiting.set(name, resolve)
    try {
      try {
        writeFileSync(join(this.#folder, name), '')
      } catch {
        // Probably a full disk: the caller checks the whole tree instead.
        return false
      }
      return await settledWithin(delivered, barrierMs, { ref: true })
    } finally {
      this.#waiting.delete(name)
      rmSync(join(this.#folder, name), { force: true })
    }
  }

  close(): void {
    this.#watcher?.close()
    for (const passed of this.#waiting.values()) passed()
  }
}
