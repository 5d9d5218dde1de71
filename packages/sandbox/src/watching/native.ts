import { type FSWatcher, mkdirSync, rmSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { countChange, onOverflow } from './drains.ts'
import { Looking } from './looking.ts'
import type { Node } from './node.ts'
import type { ChangeRecorder } from './recorder.ts'
import type { Tree } from './tree.ts'
import type { Watcher } from './watcher.ts'

/** Changes of one path within this time are one. */
const coalesceMs = 2
/** The two halves of a rename come one after the other, never this far apart. */
const settleMs = 0.5
/** However busy it is, it is not waited for longer than this. */
const patienceMs = 10
/** How long a mark may take through the kernel's queue before it counts as lost. */
const markMs = 1_000

export interface NativeOptions {
  readonly tree: Tree
  readonly recorder: ChangeRecorder
  readonly signal: AbortSignal
  /** A folder of the host's alone. */
  readonly marks: string
  failed(error: unknown): void
}

/** The kernel tells what may have changed; then it is looked at. */
export class NativeWatcher implements Watcher {
  readonly #options: NativeOptions
  readonly #looking: Looking
  readonly #stopListening: () => void
  readonly #marks: Marks
  #due: number | undefined
  #lastHeard = 0
  #closing: Promise<void> | undefined

  constructor(options: NativeOptions) {
    this.#options = options
    this.#looking = new Looking(options.tree, options.recorder, options.signal)
    this.#marks = new Marks(options.marks)
    this.#stopListening = onOverflow(() => {
      this.#looking.markAll()
      this.#schedule()
    })
  }

  begin(): Promise<void> {
    return this.#looking.begin()
  }

  readonly heard = (node: Node, name: string | null): void => {
    countChange()
    // A name that is not UTF-8 cannot be told apart: its directory is looked through.
    this.#looking.mark(node, name === null || name.includes('\ufffd') ? null : name)
    this.#lastHeard = performance.now()
    this.#schedule()
  }

  async flush(): Promise<void> {
    if (!(await this.#marks.pass())) this.#looking.markAll()
    // Whether the reading that brought the mark was an overflow is known when all of it was counted.
    await new Promise(setImmediate)
    await this.#looking.now()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    try {
      if (!this.#options.signal.aborted) await this.flush()
    } finally {
      this.#stopListening()
      this.#marks.close()
      this.#options.tree.close()
    }
  }

  #schedule(): void {
    if (this.#due !== undefined || this.#closing !== undefined) return
    this.#due = performance.now() + coalesceMs
    // Timers are whole milliseconds and late; the rest is waited for in turns of the loop.
    setTimeout(() => this.#wait(), coalesceMs - 1).unref()
  }

  #wait(): void {
    // Whoever closes it looks a last time.
    if (this.#closing !== undefined) return
    const now = performance.now()
    const quiet = now - this.#lastHeard >= settleMs || now >= this.#due! + patienceMs
    const { failed } = this.#options
    if (quiet && now >= this.#due!) {
      this.#due = undefined
      this.#looking.now().catch(failed)
      return
    }
    // The time until then is used: what has come to rest is looked at already.
    if (quiet && this.#looking.pending) this.#looking.ahead().catch(failed)
    setImmediate(() => this.#wait())
  }
}

/** Marks that pass through the kernel's queue behind everything that is in it. */
class Marks {
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
      // The kernel has no watch left: then every flush looks at everything.
    }
  }

  /** True once the mark is through; false when it was lost. */
  async pass(): Promise<boolean> {
    if (this.#watcher === undefined) return false
    this.#count += 1
    const name = String(this.#count)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#waiting.set(name, () => resolve(true))
    const timer = setTimeout(() => resolve(false), markMs)
    try {
      try {
        writeFileSync(join(this.#folder, name), '')
      } catch {
        // A full disk, above all: then everything is looked at.
        return false
      }
      return await promise
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(name)
      rmSync(join(this.#folder, name), { force: true })
    }
  }

  close(): void {
    this.#watcher?.close()
    for (const passed of this.#waiting.values()) passed()
  }
}
