import type { JournalItem } from '@vitrine/protocol'
import type { Wakeup } from '../wakeup.ts'

export interface Pulled<Item> {
  readonly items: readonly Item[]
  /** The last key looked at. */
  readonly scanned: number
}

export interface TailSource<Item> {
  readonly wakeup: Wakeup
  /** What comes after a key: from memory where it is still there, else from the store. Empty when caught up. */
  pull(after: number, signal: AbortSignal): Promise<Pulled<Item>>
  /** Set when the store has ended: a tail that is cut says so. */
  ended(): Error | undefined
}

/**
 * Follows a journal. It holds a key and at most one page, never a queue: a reader that stops reading costs no
 * more and finds everything in the store when it comes back.
 */
export class Tail<Item = JournalItem> implements AsyncIterableIterator<Item, undefined> {
  readonly #source: TailSource<Item>
  readonly #signal: AbortSignal
  readonly #returned = new AbortController()
  #items: readonly Item[] = []
  #index = 0
  #key: number
  #start: (() => Promise<number>) | undefined
  #filling: Promise<unknown> = Promise.resolve()
  /** Calls that wait: whoever comes next waits behind them. */
  #asked = 0

  /** `start` is a key, or how to find it: looked up at once, so that `now` means now. */
  constructor(source: TailSource<Item>, start: number | (() => Promise<number>), signal?: AbortSignal) {
    this.#source = source
    this.#key = typeof start === 'number' ? start : 0
    if (typeof start === 'function') {
      const found = start()
      found.catch(() => undefined)
      this.#start = () => found
    }
    this.#signal = signal ? AbortSignal.any([signal, this.#returned.signal]) : this.#returned.signal
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    if (this.#asked === 0 && this.#index < this.#items.length && !this.#signal.aborted) {
      return Promise.resolve({ value: this.#items[this.#index++]!, done: false })
    }
    this.#asked += 1
    const filled = this.#filling
      .then(() => this.#fill())
      .finally(() => {
        this.#asked -= 1
      })
    this.#filling = filled.catch(() => undefined)
    return filled
  }

  /** All that is at hand: what is left of a page, or the next page once there is one. Nothing when it has ended. */
  async batch(): Promise<readonly Item[] | undefined> {
    const first = await this.next()
    if (first.done) return undefined
    const rest = this.#items.slice(this.#index)
    this.#index = this.#items.length
    return [first.value, ...rest]
  }

  /** The last key that was looked at and of which nothing is left to give. */
  get scanned(): number | undefined {
    return this.#start === undefined && this.#index >= this.#items.length ? this.#key : undefined
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    this.#returned.abort()
    this.#items = []
    return { value: undefined, done: true }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  /** Once it is known where it begins: what comes from then on is not missed. */
  async begin(): Promise<void> {
    if (this.#start === undefined) return
    const key = await this.#start()
    // Somebody may have begun to read meanwhile.
    if (this.#start === undefined) return
    this.#key = key
    this.#start = undefined
  }

  async #fill(): Promise<IteratorResult<Item, undefined>> {
    await this.begin()
    for (;;) {
      if (this.#signal.aborted) return { value: undefined, done: true }
      if (this.#index < this.#items.length) return { value: this.#items[this.#index++]!, done: false }
      const ended = this.#source.ended()
      if (ended) throw ended
      const { version } = this.#source.wakeup
      const pulled = await this.#source.pull(this.#key, this.#signal).catch((error: unknown) => {
        // A long search that was given up has nothing to say.
        if (!this.#signal.aborted) throw error
      })
      if (pulled === undefined) continue
      const { items, scanned } = pulled
      const moved = scanned > this.#key
      this.#key = scanned
      this.#items = items
      this.#index = 0
      if (items.length === 0 && !moved) await this.#source.wakeup.since(version, this.#signal)
    }
  }
}
