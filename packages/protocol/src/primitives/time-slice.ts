import { VitrineError } from '../errors/vitrine-error.ts'

const defaultMs = 5

/**
 * Divides long synchronous work into short slices, between which the event loop runs. Slices of different callers take
 * turns: at most one of those that wait runs in one turn of the event loop, however many callers there are.
 *
 * @example
 * const slice = new TimeSlice(signal)
 * for (const event of events) {
 *   if (slice.expired) await slice.yieldToEventLoop()
 *   fold(event)
 * }
 */
export class TimeSlice {
  readonly #signal: AbortSignal | undefined
  readonly #ms: number
  #expiresAt: number

  constructor(signal?: AbortSignal, ms = defaultMs) {
    this.#signal = signal
    this.#ms = ms
    this.#expiresAt = performance.now() + ms
    this.check()
  }

  /** Whether the slice is used up; if so, await `yieldToEventLoop()`. */
  get expired(): boolean {
    return performance.now() >= this.#expiresAt
  }

  async yieldToEventLoop(): Promise<void> {
    await nextTurn()
    this.#expiresAt = performance.now() + this.#ms
    this.check()
  }

  check(): void {
    if (this.#signal?.aborted) throw cancelled(this.#signal)
  }
}

export function cancelled(signal: AbortSignal): VitrineError {
  return new VitrineError('cancelled', 'The operation was cancelled before it finished.', {
    cause: signal.reason,
  })
}

const waiting = new Set<() => void>()

/** Resolves in a later turn of the event loop, in the order of the calls, one call a turn. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.add(resolve)
    if (waiting.size === 1) defer(resumeOne)
  })
}

function resumeOne(): void {
  const [next] = waiting
  if (next === undefined) return
  waiting.delete(next)
  if (waiting.size > 0) defer(resumeOne)
  next()
}

declare const setImmediate: ((run: () => void) => unknown) | undefined

/** Browsers have no `setImmediate`. */
function defer(run: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(run)
  else setTimeout(run)
}
