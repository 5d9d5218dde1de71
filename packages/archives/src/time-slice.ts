import { VitrineError } from '@vitrine/protocol'

const sliceMs = 5

/**
 * Divides long synchronous work on files into short slices. That is faster than one asynchronous call per file, and the
 * event loop runs between the slices.
 */
export class TimeSlice {
  readonly #signal: AbortSignal | undefined
  #expiresAt = performance.now() + sliceMs

  constructor(signal?: AbortSignal) {
    this.#signal = signal
    this.check()
  }

  /** Whether the slice is used up; if so, await `yieldToEventLoop()`. */
  get expired(): boolean {
    return performance.now() >= this.#expiresAt
  }

  async yieldToEventLoop(): Promise<void> {
    await new Promise(setImmediate)
    this.#expiresAt = performance.now() + sliceMs
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
