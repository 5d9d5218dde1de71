import type { JournalItem } from '@vitrine/protocol'
import { Serial } from '@vitrine/protocol/primitives'
import type { ReadScope } from './read-scope.ts'
import { keyOf, type ScannedItem } from './scan.ts'

export interface TailSource<Item> {
  readonly scope: ReadScope
  /** The items after a key and the last key scanned, from memory if they are still there, else from the store. */
  pull(
    after: number,
    signal: AbortSignal,
  ): Promise<{ readonly found: readonly ScannedItem[]; readonly scanned: number }>
  /** Whether `pull` would find the events after a key in memory, or none. */
  isInMemory(after: number): boolean
  toItem(found: ScannedItem): Item
  /** The error of a closed store: the tail fails with it. */
  closed(): Error | undefined
  /** The error of a store that takes no more events: the tail fails with it after the last one. */
  complete(): Error | undefined
}

/**
 * Follows a journal. It holds a key and at most one page, never a queue: a reader that stops reading needs no more
 * memory, and reads the rest from the store when it continues.
 */
export class Tail<Item = JournalItem> implements AsyncIterableIterator<Item, undefined> {
  readonly #source: TailSource<Item>
  readonly #signal: AbortSignal
  readonly #returned = new AbortController()
  #page: readonly ScannedItem[] = []
  /** Index in the page of the next item to yield. */
  #index = 0
  /** The last key of the page, and the key before it. */
  #key: number
  #previousKey = 0
  #start: (() => Promise<number>) | undefined
  readonly #fills = new Serial()
  /** Pending `next()` calls; later calls queue behind them. */
  #pendingCalls = 0

  /** `start` is a key or a function that finds it; it is called at once, so that `now` is the time of this call. */
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
    return this.#fills.run(async () => {
      try {
        return await this.#fill()
      } finally {
        this.#pendingCalls -= 1
      }
    })
  }

  /** The rest of the current page, or the next page once there is one; undefined when the tail has ended. */
  async batch(): Promise<readonly Item[] | undefined> {
    const first = await this.next()
    if (first.done) return undefined
    const items = [first.value]
    try {
      while (this.#index < this.#page.length) items.push(this.#take())
    } catch {
      // A damaged item: yield the items before it; the next call fails with its error.
    }
    return items
  }

  /** The cursor to resume from: after all yielded and all filtered items. Undefined until the start is known. */
  get cursor(): string | undefined {
    return this.#start === undefined ? this.#source.scope.cursor(this.#lastYieldedKey) : undefined
  }

  /** Whether the next items are in memory or not committed yet: reading them costs no read of the store. */
  get isLive(): boolean {
    if (this.#index < this.#page.length) return true
    return this.#start === undefined && this.#source.isInMemory(this.#key)
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

  /** Resolves once the start key is known: events committed afterwards are not missed. */
  async begin(): Promise<void> {
    if (this.#start === undefined) return
    const key = await this.#start()
    // A concurrent `next()` may have set the start meanwhile.
    if (this.#start === undefined) return
    this.#key = key
    this.#start = undefined
  }

  async #fill(): Promise<IteratorResult<Item, undefined>> {
    await this.begin()
    for (;;) {
      if (this.#signal.aborted) return { value: undefined, done: true }
      if (this.#index < this.#page.length) return { value: this.#take(), done: false }
      const closed = this.#source.closed()
      if (closed) throw closed
      // Asked before the pull, which then finds every event that was committed until the end.
      const complete = this.#source.complete()
      const { wakeup } = this.#source.scope
      const { version } = wakeup
      const pulled = await this.#source.pull(this.#key, this.#signal).catch((error: unknown) => {
        // Ignore the error of a scan that was aborted.
        if (!this.#signal.aborted) throw error
      })
      // A page that arrives after the abort is not yielded, so the cursor stays before it.
      if (pulled === undefined || this.#signal.aborted) continue
      const { found, scanned } = pulled
      const moved = scanned > this.#key
      this.#previousKey = this.#key
      this.#key = scanned
      this.#page = found
      this.#index = 0
      if (found.length > 0 || moved) continue
      if (complete) throw complete
      await wakeup.since(version, this.#signal)
    }
  }

  /** Advances only after the item was decoded: a damaged item fails every call and is never skipped. */
  #take(): Item {
    const item = this.#source.toItem(this.#page[this.#index]!)
    this.#index += 1
    return item
  }

  /** The key of the last yielded item or, at the end of the page, the last key scanned. */
  get #lastYieldedKey(): number {
    if (this.#index >= this.#page.length) return this.#key
    const last = this.#page[this.#index - 1]
    return last === undefined ? this.#previousKey : keyOf(last, this.#source.scope.journal)
  }
}
