/** Where items come from, one at a time. */
export interface PullSource<Item> {
  /** Nothing once there are no more. */
  next(): Promise<Item | undefined>
  /** A `next` that waits comes to its end. */
  close(): void
}

/** Items of a source: in order however they are asked for, ended quietly by the signal or by leaving the loop. */
export class PullIterator<Item> implements AsyncIterableIterator<Item, undefined> {
  readonly #source: PullSource<Item>
  readonly #signal: AbortSignal | undefined
  readonly #end = () => this.#close()
  #last: Promise<unknown> = Promise.resolve()
  #isOver = false

  constructor(source: PullSource<Item>, signal?: AbortSignal) {
    this.#source = source
    this.#signal = signal
    if (signal?.aborted) this.#close()
    else signal?.addEventListener('abort', this.#end)
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    const result = this.#last.then(() => this.#take())
    this.#last = result.catch(() => undefined)
    return result
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
      // A read that was given up has nothing to say.
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
