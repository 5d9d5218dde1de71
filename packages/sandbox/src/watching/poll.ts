import { Serial } from '@vitrine/protocol/primitives'
import type { ChangeRecorder } from './recorder.ts'
import { Rescanner } from './rescanner.ts'
import type { Tree } from './tree.ts'

export interface PollOptions {
  readonly tree: Tree
  readonly recorder: ChangeRecorder
  readonly signal: AbortSignal
  readonly intervalMs: number
  /** Called before each check, to read the current state of the workspace. */
  refresh?(): Promise<void>
  failed(error: unknown): void
}

/** Checks the whole tree periodically. The interval starts when the previous check has ended. */
export class PollWatcher {
  readonly #options: PollOptions
  readonly #rescanner: Rescanner
  readonly #serial = new Serial()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: PollOptions) {
    this.#options = options
    this.#rescanner = new Rescanner(options.tree, options.recorder, options.signal)
  }

  async start(): Promise<void> {
    await this.#options.refresh?.()
    await this.#rescanner.initialScan()
    this.#scheduleNext()
  }

  /** Starts a new check: only a check that starts after the call sees every change made before it. */
  flush(): Promise<void> {
    return this.#serial.run(async () => {
      await this.#options.refresh?.()
      this.#rescanner.markAll()
      await this.#rescanner.checkAndFlush()
    })
  }

  async close(): Promise<void> {
    // No periodic check starts from here on, so that the flush below is the last one.
    this.#closed = true
    clearTimeout(this.#timer)
    try {
      if (!this.#options.signal.aborted) await this.flush()
    } finally {
      this.#options.tree.close()
    }
  }

  #scheduleNext(): void {
    if (this.#closed) return
    this.#timer = setTimeout(() => {
      this.flush()
        .catch((error: unknown) => this.#options.failed(error))
        .finally(() => this.#scheduleNext())
    }, this.#options.intervalMs)
    this.#timer.unref()
  }
}
