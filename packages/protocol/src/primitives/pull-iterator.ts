import { Serial } from './serial.ts'

/** A source of items, one at a time. */
export interface PullSource<Item> {
  /** The next item; undefined at the end. */
  next(): Promise<Item | undefined>
  /** Releases the source; a pending `next` settles. */
  close(): void
}

/** Iterates a source. Concurrent `next` calls are served in order; the signal or leaving the loop ends it without an error. */
export class PullIterator<Item> implements AsyncIterableIterator<Item, undefined> {
  readonly #source: PullSource<Item>
  readonly #signal: AbortSignal | undefined
  readonly #end = () => this.#close()
  readonly #serial = new Serial()
  #isOver = false

  constructor(source: PullSource<Item>, signal?: AbortSignal) {
    this.#source = source
    this.#signal = signal
    if (signal?.aborted) this.#close()
    else signal?.addEventListener('abort', this.#end)
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    return this.#serial.run(() => this.#take())
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    this.#close()
    return { value: undefined, done: true }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close()
  }

  async #take(): Promise<IteratorResult<Item, undefined>> {
    try {
      const value = this.#isOver ? undefined : await this.#source.next()
      if (value !== undefined && !this.#isOver) return { value, done: false }
    } catch (error) {
      // The error of a read that was abandoned is ignored.
      if (!this.#isOver) {
        this.#close()
        throw error
      }
    }
    this.#close()
    return { value: undefined, done: true }
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#signal?.removeEventListener('abort', this.#end)
    this.#source.close()
  }
}
