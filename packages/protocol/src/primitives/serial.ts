import { Semaphore } from './semaphore.ts'

/**
 * Runs work one piece at a time, in the order of the calls. Work that fails does not stop the work after it.
 *
 * @example
 * const serial = new Serial()
 * await Promise.all([serial.run(() => write('a')), serial.run(() => write('b'))]) // a, then b
 */
export class Serial {
  readonly #lock = new Semaphore(1, Number.POSITIVE_INFINITY)

  /** The number of calls that wait for their turn. */
  get waiting(): number {
    return this.#lock.waiting
  }

  /**
   * Settles as the work does, which starts in a later microtask. A signal that aborts while the call waits rejects it with
   * its reason at once; work that has started is not cancelled.
   */
  async run<Result>(work: () => Result | PromiseLike<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted()
    const release = await (this.#lock.tryAcquire() ?? this.#lock.acquire(signal))
    try {
      return await work()
    } finally {
      release?.()
    }
  }
}
