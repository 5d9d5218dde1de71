/** So many calls at once; so many more wait, first come first served. */
export class Semaphore {
  readonly #count: number
  readonly #mostWaiting: number
  readonly #waiting = new Set<() => void>()
  #taken = 0

  constructor(count: number, mostWaiting: number) {
    this.#count = count
    this.#mostWaiting = mostWaiting
  }

  /** How to leave the seat, once there is one. Rejects when too many wait, or with the signal's reason. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#taken < this.#count) this.#taken += 1
    else await this.#wait(signal)
    return () => this.#leave()
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#mostWaiting) {
      const message = `Too many calls at once: ${this.#count} run and ${this.#waiting.size} wait. Try again later.`
      return Promise.reject(new Error(message))
    }
    return new Promise((resolve, reject) => {
      const sit = () => {
        signal.removeEventListener('abort', goAway)
        resolve()
      }
      const goAway = () => {
        this.#waiting.delete(sit)
        reject(signal.reason)
      }
      signal.addEventListener('abort', goAway, { once: true })
      this.#waiting.add(sit)
    })
  }

  /** The seat goes to whoever waits longest. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#taken -= 1
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
