/** One piece of work for everyone who asks for the same; it is called off when nobody is left who waits for it. */
export class SharedWork<Result, Progress> {
  readonly #running = new Map<string, Work<Result, Progress>>()

  async join(
    key: string,
    begin: (work: {
      readonly signal: AbortSignal
      readonly tell: (progress: Progress) => void
    }) => Promise<Result>,
    caller: {
      readonly onProgress: (progress: Progress) => void
      readonly signal: AbortSignal | undefined
      readonly cancelled: () => Error
    },
  ): Promise<Result> {
    const { signal } = caller
    let work = this.#running.get(key)
    while (work?.controller.signal.aborted) {
      // It is being taken back: what is asked for now begins after that.
      await work.result.catch(() => undefined)
      if (signal?.aborted) throw caller.cancelled()
      work = this.#running.get(key)
    }
    work ??= this.#begin(key, begin)
    return work.wait(caller)
  }

  #begin(key: string, begin: Parameters<SharedWork<Result, Progress>['join']>[1]): Work<Result, Progress> {
    const work = new Work<Result, Progress>(begin, () => this.#running.delete(key))
    this.#running.set(key, work)
    return work
  }
}

class Work<Result, Progress> {
  readonly controller = new AbortController()
  readonly result: Promise<Result>
  readonly #listeners = new Map<symbol, (progress: Progress) => void>()

  constructor(begin: Parameters<SharedWork<Result, Progress>['join']>[1], ended: () => void) {
    const tell = (progress: Progress) => {
      for (const listener of this.#listeners.values()) listener(progress)
    }
    this.result = begin({ signal: this.controller.signal, tell }).finally(ended)
    this.result.catch(() => undefined)
  }

  async wait({
    onProgress,
    signal,
    cancelled,
  }: {
    readonly onProgress: (progress: Progress) => void
    readonly signal: AbortSignal | undefined
    readonly cancelled: () => Error
  }): Promise<Result> {
    const { promise: left, reject } = Promise.withResolvers<never>()
    const me = Symbol('caller')
    const leave = () => {
      this.#listeners.delete(me)
      // The last one waits until everything is taken back.
      if (this.#listeners.size === 0) this.controller.abort(signal?.reason)
      else reject(cancelled())
    }
    this.#listeners.set(me, onProgress)
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted) leave()
    try {
      return await Promise.race([this.result, left])
    } finally {
      this.#listeners.delete(me)
      signal?.removeEventListener('abort', leave)
    }
  }
}
