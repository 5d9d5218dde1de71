/** Limits how much runs at once. A slot is released with the function that acquiring it returned. */
export class Semaphore {
  readonly limit: number
  readonly #maxWaiting: number
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(limit: number, maxWaiting = 0) {
    this.limit = limit
    this.#maxWaiting = maxWaiting
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Returns a function that releases the slot, or undefined if no slot is free. */
  tryAcquire(): (() => void) | undefined {
    if (this.#running >= this.limit) return undefined
    this.#running += 1
    return this.#releaseOnce()
  }

  /**
   * Waits for a slot, in the order of the calls. Resolves to undefined if already `maxWaiting` callers wait; rejects with
   * the signal's reason.
   */
  async acquire(signal?: AbortSignal): Promise<(() => void) | undefined> {
    signal?.throwIfAborted()
    const release = this.tryAcquire()
    if (release !== undefined || this.#waiting.size >= this.#maxWaiting) return release
    await this.#wait(signal)
    return this.#releaseOnce()
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const proceed = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = () => {
        this.#waiting.delete(proceed)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#waiting.add(proceed)
    })
  }

  #releaseOnce(): () => void {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#release()
    }
  }

  /** Passes the slot to the caller that waits longest. */
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
