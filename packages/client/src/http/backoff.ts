const firstMs = 1_000
const maxMs = 30_000

/** Exponential backoff with jitter: starts at one second and doubles up to 30. */
export class Backoff {
  #ms = firstMs

  next(): number {
    const ms = this.#ms
    this.#ms = Math.min(ms * 2, maxMs)
    // Jitter, so that the clients of one server do not reconnect at the same time.
    return ms * (0.75 + Math.random() / 4)
  }

  reset(): void {
    this.#ms = firstMs
  }
}
