/**
 * Limits how long bodies are read and sent in one turn of the event loop, for all bodies together. A socket accepts
 * megabytes before a write has to wait, so that readers who catch up would keep the loop from everything else. Live readers
 * are not limited: a daemon commits no more than it has time for.
 */
export class TurnBudget {
  readonly #ms: number
  #began: number | undefined
  #waiting: (() => void)[] = []

  constructor(ms: number) {
    this.#ms = ms
  }

  /** Call it before a part is read. If other bodies wait, or the time of this turn is used up, resolves when it is due. */
  next(): Promise<void> | undefined {
    this.#begin()
    if (this.#waiting.length === 0 && this.#hasTime()) return undefined
    return new Promise((resume) => {
      this.#waiting.push(resume)
      if (this.#hasTime()) this.#waiting.shift()?.()
    })
  }

  #begin(): void {
    if (this.#began !== undefined) return
    this.#began = performance.now()
    setImmediate(this.#nextTurn)
  }

  #hasTime(): boolean {
    return performance.now() - this.#began! < this.#ms
  }

  /** Resumes one body: it resumes the next one before its own next part, as long as there is time. */
  readonly #nextTurn = (): void => {
    this.#began = undefined
    const resume = this.#waiting.shift()
    if (resume === undefined) return
    this.#begin()
    resume()
  }
}
