/** Lets readers sleep until the next commit. The version detects a commit between a reader's scan and its sleep. */
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

  /** Resolves at once if there was a notification since `version`, else on the next one or when the signal aborts. */
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
