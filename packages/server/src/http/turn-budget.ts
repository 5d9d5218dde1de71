/**
 * Limits how long bodies are sent in one turn of the event loop, for all bodies together. A socket accepts megabytes before
 * a write has to wait, so that readers who catch up would keep the loop from everything else.
 */
export class TurnBudget {
  readonly #ms: number
  #began: number | undefined
  #waiting: (() => void)[] = []

  constructor(ms: number) {
    this.#ms = ms
  }

  /** Call it after a part was sent. If the time of this turn is used up, resolves in the next one. */
  spend(): Promise<void> | undefined {
    if (this.#began === undefined) {
      this.#began = performance.now()
      setImmediate(this.#nextTurn)
    }
    if (performance.now() - this.#began < this.#ms) return undefined
    return new Promise((resume) => this.#waiting.push(resume))
  }

  readonly #nextTurn = (): void => {
    this.#began = undefined
    const waiting = this.#waiting
    this.#waiting = []
    for (const resume of waiting) resume()
  }
}
