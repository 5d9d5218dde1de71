/** Lets readers sleep until something was committed. The version closes the gap between looking and sleeping. */
export class Wakeup {
  #version = 0
  #waiting = new Set<() => void>()

  get version(): number {
    return this.#version
  }

  notify(): void {
    this.#version += 1
    if (this.#waiting.size === 0) return
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const wake of waiting) wake()
  }

  /** Resolves at once if something happened since `version`, else with the next event or the signal. */
  since(version: number, signal?: AbortSignal): Promise<void> {
    if (version !== this.#version || signal?.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal?.addEventListener('abort', wake, { once: true })
    })
  }
}
