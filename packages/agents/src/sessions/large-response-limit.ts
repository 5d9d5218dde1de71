/** Responses that may be built before the agent has read earlier ones. */
const maxConcurrent = 4

/** Limits concurrent large responses, so an agent that does not read cannot make us buffer all it requested. */
export class LargeResponseLimit {
  readonly #running = new Set<string>()
  readonly #waiting: { readonly key: string; readonly start: () => void }[] = []

  /** Runs `work` once a slot is free; the slot is occupied until `release`. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#running.size >= maxConcurrent)
      await new Promise<void>((start) => {
        this.#waiting.push({ key, start })
      })
    else this.#running.add(key)
    return work()
  }

  /** Frees the slot when this response is sent. Sends are sequential, so the pipe has taken the earlier ones by then. */
  release(key: string): void {
    if (!this.#running.delete(key)) return
    const next = this.#waiting.shift()
    if (next === undefined) return
    this.#running.add(next.key)
    next.start()
  }
}
