import type { JournalItem } from '@vitrine/protocol'
import type { ReadScope } from './read-scope.ts'
import { keyOf, type ScannedItem } from './scan.ts'

export interface TailSource<Item> {
  readonly scope: ReadScope
  /** What comes after a key, and the last key looked at: from memory where it is still there, else from the store. */
  pull(
    after: number,
    signal: AbortSignal,
  ): Promise<{ readonly found: readonly ScannedItem[]; readonly scanned: number }>
  toItem(found: ScannedItem): Item
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
  #page: readonly ScannedItem[] = []
  /** Of the next entry of the page to give. */
  #index = 0
  /** The last key of the page, and the key before it. */
  #key: number
  #previousKey = 0
  #start: (() => Promise<number>) | undefined
  #filling: Promise<unknown> = Promise.resolve()
  /** Calls that wait: whoever comes next waits behind them. */
  #pendingCalls = 0

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
    if (this.#pendingCalls === 0 && this.#index < this.#page.length && !this.#signal.aborted) {
      try {
        return Promise.resolve({ value: this.#take(), done: false })
      } catch (error) {
        return Promise.reject(error)
      }
    }
    this.#pendingCalls += 1
    const filled = this.#filling
      .then(() => this.#fill())
      .finally(() => {
        this.#pendingCalls -= 1
      })
    this.#filling = filled.catch(() => undefined)
    return filled
  }

  /** All that is at hand: what is left of a page, or the next page once there is one. Nothing when it has ended. */
  async batch(): Promise<readonly Item[] | undefined> {
    const first = await this.next()
    if (first.done) return undefined
    const items = [first.value]
    try {
      while (this.#index < this.#page.length) items.push(this.#take())
    } catch {
      // A damaged item: what comes before it is given, and the next call fails with it.
    }
    return items
  }

  /** Where reading goes on: after everything that was given, and after what did not match. Known once it has begun. */
  get cursor(): string | undefined {
    return this.#start === undefined ? this.#source.scope.cursor(this.#lastYieldedKey) : undefined
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    this.#returned.abort()
    this.#key = this.#lastYieldedKey
    this.#page = []
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
      if (this.#index < this.#page.length) return { value: this.#take(), done: false }
      const ended = this.#source.ended()
      if (ended) throw ended
      const { wakeup } = this.#source.scope
      const { version } = wakeup
      const pulled = await this.#source.pull(this.#key, this.#signal).catch((error: unknown) => {
        // A long search that was given up has nothing to say.
        if (!this.#signal.aborted) throw error
      })
      // A page that comes too late was never given: the cursor stays before it.
      if (pulled === undefined || this.#signal.aborted) continue
      const { found, scanned } = pulled
      const moved = scanned > this.#key
      this.#previousKey = this.#key
      this.#key = scanned
      this.#page = found
      this.#index = 0
      if (found.length === 0 && !moved) await wakeup.since(version, this.#signal)
    }
  }

  /** Goes on only once the item could be made: damaged ones are an error each time, and never passed over. */
  #take(): Item {
    const item = this.#source.toItem(this.#page[this.#index]!)
    this.#index += 1
    return item
  }

  /** The key of what was given last; with nothing left to give, the last one looked at. */
  get #lastYieldedKey(): number {
    if (this.#index >= this.#page.length) return this.#key
    const last = this.#page[this.#index - 1]
    return last === undefined ? this.#previousKey : keyOf(last, this.#source.scope.journal)
  }
}
