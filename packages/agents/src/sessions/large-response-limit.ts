/** How many answers may be made before the agent has taken those that were made before. */
const maxAtOnce = 4

/** Answers that may be large: of an agent that does not read there are few at a time, and not all that it asked for. */
export class LargeResponseLimit {
  readonly #held = new Set<string>()
  readonly #waiting: { readonly key: string; readonly begin: () => void }[] = []

  /** Works when its turn has come, which it keeps until `answered`. */
  async work<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#held.size >= maxAtOnce)
      await new Promise<void>((begin) => {
        this.#waiting.push({ key, begin })
      })
    else this.#held.add(key)
    return work()
  }

  /** The answers go one after another: this one goes when the one before has been taken. */
  answered(key: string): void {
    if (!this.#held.delete(key)) return
    const next = this.#waiting.shift()
    if (next === undefined) return
    this.#held.add(next.key)
    next.begin()
  }
}
