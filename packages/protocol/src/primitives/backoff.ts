/** The delays between attempts: each is twice as long as the one before, up to a limit. */
export class Backoff {
  readonly #firstMs: number
  readonly #maxMs: number
  readonly #jitter: number
  #nextMs: number

  /** `jitter` is the largest part of a delay that is left out at random, so that clients do not retry at the same time. */
  constructor(firstMs: number, maxMs: number, jitter = 0) {
    this.#firstMs = firstMs
    this.#maxMs = maxMs
    this.#jitter = jitter
    this.#nextMs = firstMs
  }

  next(): number {
    const ms = this.#nextMs
    this.#nextMs = Math.min(ms * 2, this.#maxMs)
    return ms * (1 - this.#jitter * Math.random())
  }

  reset(): void {
    this.#nextMs = this.#firstMs
  }
}
