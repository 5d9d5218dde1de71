const firstMs = 1_000
const maxMs = 30_000

/** How long to wait before the next attempt: a second, doubling up to 30, each a little shorter by chance. */
export class Backoff {
  #ms = firstMs

  next(): number {
    const ms = this.#ms
    this.#ms = Math.min(ms * 2, maxMs)
    // Many clients of one server must not all come back at once.
    return ms * (0.75 + Math.random() / 4)
  }

  reset(): void {
    this.#ms = firstMs
  }
}
