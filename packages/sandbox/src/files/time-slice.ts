import { VitrineError } from '@vitrine/protocol'

const burstMs = 5

/**
 * Long work on files is done in short bursts: quicker than a call of its own for each file, and everything else gets
 * its turn in between.
 */
export class TimeSlice {
  readonly #signal: AbortSignal | undefined
  #until = performance.now() + burstMs

  constructor(signal?: AbortSignal) {
    this.#signal = signal
    this.check()
  }

  /** Whether a burst is over: then await `rest`. */
  get expired(): boolean {
    return performance.now() >= this.#until
  }

  async yieldToEventLoop(): Promise<void> {
    await new Promise(setImmediate)
    this.#until = performance.now() + burstMs
    this.check()
  }

  check(): void {
    if (this.#signal?.aborted) throw cancelled(this.#signal)
  }
}

export function cancelled(signal: AbortSignal): VitrineError {
  return new VitrineError('cancelled', 'It was called off before it was done.', { cause: signal.reason })
}
