/** Limits concurrent calls, and queues a limited number of further ones in order. */
export class CallSemaphore {
  readonly #slots: number
  readonly #maxWaiting: number
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(slots: number, maxWaiting: number) {
    this.#slots = slots
    this.#maxWaiting = maxWaiting
  }

  /** Returns a release function once a slot is free. Rejects when too many wait, or with the signal's reason. */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#running < this.#slots) this.#running += 1
    else await this.#wait(signal)
    return () => this.#release()
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#maxWaiting) {
      const message = `Too many calls at once: ${this.#slots} run and ${this.#waiting.size} wait. Try again later.`
      return Promise.reject(new Error(message))
    }
    return new Promise((resolve, reject) => {
      const proceed = () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = () => {
        this.#waiting.delete(proceed)
        reject(signal.reason)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.add(proceed)
    })
  }

  /** Passes the slot to the call that waits longest. */
  #release(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#running -= 1
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
