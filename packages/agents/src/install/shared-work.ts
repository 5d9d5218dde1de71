/** Runs work once for all concurrent callers with the same key, and cancels it when the last of them aborts. `onProgress` must not throw. */
export class SharedWork<Result, Progress> {
  readonly #running = new Map<string, Work<Result, Progress>>()

  async join(
    key: string,
    start: (work: {
      readonly signal: AbortSignal
      readonly report: (progress: Progress) => void
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
      // The work is being cancelled: start anew after it has cleaned up.
      await work.result.catch(() => undefined)
      if (signal?.aborted) throw caller.cancelled()
      work = this.#running.get(key)
    }
    work ??= this.#start(key, start)
    return work.wait(caller)
  }

  #start(key: string, start: Parameters<SharedWork<Result, Progress>['join']>[1]): Work<Result, Progress> {
    const work = new Work<Result, Progress>(start, () => this.#running.delete(key))
    this.#running.set(key, work)
    return work
  }
}

class Work<Result, Progress> {
  readonly controller = new AbortController()
  readonly result: Promise<Result>
  readonly #listeners = new Map<symbol, (progress: Progress) => void>()

  constructor(start: Parameters<SharedWork<Result, Progress>['join']>[1], onEnd: () => void) {
    const report = (progress: Progress) => {
      for (const listener of this.#listeners.values()) listener(progress)
    }
    this.result = start({ signal: this.controller.signal, report }).finally(onEnd)
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
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const caller = Symbol('caller')
    const abort = () => {
      this.#listeners.delete(caller)
      // The last caller waits until the cancelled work has cleaned up.
      if (this.#listeners.size === 0) this.controller.abort(signal?.reason)
      else reject(cancelled())
    }
    this.#listeners.set(caller, onProgress)
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted) abort()
    try {
      return await Promise.race([this.result, aborted])
    } finally {
      this.#listeners.delete(caller)
      signal?.removeEventListener('abort', abort)
    }
  }
}
