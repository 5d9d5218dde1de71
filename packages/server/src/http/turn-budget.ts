/**
 * Limits the bytes that are sent in one turn of the event loop, for all bodies together. A socket accepts megabytes before
 * a write has to wait, so that readers who catch up would keep the loop from everything else.
 */
export class TurnBudget {
  readonly #max: number
  #left: number
  #isCounting = false
  readonly #waiting: { readonly bytes: number; readonly resume: () => void }[] = []

  constructor(max: number) {
    this.#max = max
    this.#left = max
  }

  /** Counts bytes that were sent. If the turn had none left, resolves in a later turn, in the order of the calls. */
  spend(bytes: number): Promise<void> | undefined {
    if (!this.#isCounting) {
      this.#isCounting = true
      setImmediate(this.#nextTurn)
    }
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#left -= bytes
      return undefined
    }
    return new Promise((resume) => this.#waiting.push({ bytes, resume }))
  }

  readonly #nextTurn = (): void => {
    this.#left = this.#max
    while (this.#left > 0) {
      const next = this.#waiting.shift()
      if (next === undefined) break
      this.#left -= next.bytes
      next.resume()
    }
    this.#isCounting = this.#left < this.#max
    if (this.#isCounting) setImmediate(this.#nextTurn)
  }
}
