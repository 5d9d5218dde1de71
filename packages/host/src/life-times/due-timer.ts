import { Backoff } from '@vitrine/protocol/primitives'
import type { Clock } from './clock.ts'
import type { Due } from './next-due.ts'

/**
 * The longest wait before the time is compared again: a timer stands still while the machine sleeps, and cannot be longer
 * than 2^31 - 1 ms.
 */
const longestWaitMs = 60 * 60_000
/** The waits before an end that did not happen is tried again. */
const firstRetryMs = 1_000
const longestRetryMs = longestWaitMs

export interface DueTimerOptions {
  readonly clock: Clock
  /** The next end, by what is known now. */
  due(): Due | undefined
  /** Ends the sandbox. If it is due again afterwards, the call is repeated later. */
  end(due: Due): Promise<void>
}

/** Calls `end` when it is due, one call at a time. */
export class DueTimer {
  readonly #options: DueTimerOptions
  readonly #retry = new Backoff(firstRetryMs, longestRetryMs)
  #timer: { readonly at: number; readonly cancel: () => void } | undefined
  #isEnding = false
  #isClosed = false

  constructor(options: DueTimerOptions) {
    this.#options = options
  }

  /** Sets the timer for the next end; call it after each change that can make one due earlier. */
  update(): void {
    const due = this.#options.due()
    if (due !== undefined) this.#setFor(due.at)
  }

  /** Ends the sandbox now, if it is due. */
  check(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (this.#isClosed || this.#isEnding) return
    const due = this.#options.due()
    if (due === undefined) return
    if (due.at > this.#options.clock.now()) this.#setFor(due.at)
    else void this.#end(due)
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#timer = undefined
  }

  async #end(due: Due): Promise<void> {
    this.#isEnding = true
    try {
      await this.#options.end(due)
    } finally {
      this.#isEnding = false
      this.#setForNext()
    }
  }

  #setForNext(): void {
    const now = this.#options.clock.now()
    const next = this.#options.due()
    if (next === undefined || next.at > now) this.#retry.reset()
    if (next !== undefined) this.#setFor(next.at > now ? next.at : now + this.#retry.next())
  }

  /** A timer that fires earlier stays: it sets the next one. */
  #setFor(due: number): void {
    if (this.#isClosed || this.#isEnding) return
    const now = this.#options.clock.now()
    const at = Math.min(due, now + longestWaitMs)
    if (this.#timer !== undefined && this.#timer.at <= at) return
    this.#timer?.cancel()
    const cancel = this.#options.clock.after(Math.max(at - now, 0), () => this.check())
    this.#timer = { at, cancel }
  }
}
