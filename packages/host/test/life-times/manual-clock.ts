import type { Clock } from '../../src/life-times/clock.ts'

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  #now = 1_000_000
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>()
  /** The length of every timer that was set. */
  readonly waits: number[] = []

  now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): () => void {
    this.waits.push(ms)
    const timer = { at: this.#now + ms, run }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  get pending(): number {
    return this.#timers.size
  }

  /** Moves on, and calls the timers of that time in their order. */
  async move(ms: number): Promise<void> {
    const until = this.#now + ms
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.run()
      await new Promise(setImmediate)
    }
    this.#now = until
  }
}
