/** So many connections at once and no more. */
export class Semaphore {
  readonly count: number
  #taken = 0

  constructor(count: number) {
    this.count = count
  }

  /** How to leave the seat, or nothing when all are taken. */
  take(): (() => void) | undefined {
    if (this.#taken >= this.count) return undefined
    this.#taken += 1
    return () => {
      this.#taken -= 1
    }
  }
}
