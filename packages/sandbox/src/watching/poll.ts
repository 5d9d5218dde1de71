import { Looking } from './looking.ts'
import type { ChangeRecorder } from './recorder.ts'
import type { Tree } from './tree.ts'
import type { Watcher } from './watcher.ts'

export interface PollOptions {
  readonly tree: Tree
  readonly recorder: ChangeRecorder
  readonly signal: AbortSignal
  readonly intervalMs: number
  /** Takes in how everything is now, before it is looked through. */
  refresh?(): Promise<void>
  failed(error: unknown): void
}

/** Looks at everything every so often: one look at a time, the next one a while after the last has ended. */
export class PollWatcher implements Watcher {
  readonly #options: PollOptions
  readonly #looking: Looking
  #timer: NodeJS.Timeout | undefined
  #closed = false
  #turn: Promise<void> = Promise.resolve()

  constructor(options: PollOptions) {
    this.#options = options
    this.#looking = new Looking(options.tree, options.recorder, options.signal)
  }

  async begin(): Promise<void> {
    await this.#options.refresh?.()
    await this.#looking.begin()
    this.#again()
  }

  /** A look that begins after the call sees everything that was there before it. */
  flush(): Promise<void> {
    const turn = this.#turn.then(async () => {
      await this.#options.refresh?.()
      this.#looking.markAll()
      await this.#looking.now()
    })
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async close(): Promise<void> {
    // From here on no other look is begun: it would come after the last one.
    this.#closed = true
    clearTimeout(this.#timer)
    try {
      if (!this.#options.signal.aborted) await this.flush()
    } finally {
      this.#options.tree.close()
    }
  }

  #again(): void {
    if (this.#closed) return
    this.#timer = setTimeout(() => {
      this.flush()
        .catch((error: unknown) => this.#options.failed(error))
        .finally(() => this.#again())
    }, this.#options.intervalMs)
    this.#timer.unref()
  }
}
