const mostKeys = 10_000
const fastMs = 1
const slowMs = 2

/**
 * The number of keys that one statement scans. A statement cannot be interrupted, and how long it takes depends on the
 * filter and on the size of the events: the window shrinks after a slow statement and grows after a fast one. A search
 * for a text begins with one event, since its cost is the size of the event times that of the text.
 */
export class ScanWindow {
  #keys: number

  constructor({ text, first }: { readonly text?: string | undefined; readonly first?: number }) {
    this.#keys = first ?? (text === undefined ? 512 : 1)
  }

  get keys(): number {
    return this.#keys
  }

  async timed<Result>(read: () => Promise<Result>): Promise<Result> {
    const startedAt = performance.now()
    const result = await read()
    const ms = performance.now() - startedAt
    if (ms > slowMs) this.#keys = Math.max(1, this.#keys >> 1)
    else if (ms < fastMs) this.#keys = Math.min(mostKeys, this.#keys * 2)
    return result
  }
}
