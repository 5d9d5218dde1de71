import { AsyncLocalStorage } from 'node:async_hooks'

/** The calls in flight on a sandbox that its host may stop, and its start by the next call after such a stop. */
export class SandboxUses {
  readonly #onEnded: () => void
  /** Set inside a stop: a hook before the stop may call the sandbox, and must not wait for that stop. */
  readonly #inStop = new AsyncLocalStorage<true>()
  #inFlight = 0
  #isAutoStopped = false
  #stopping: Promise<void> | undefined
  #starting: Promise<void> | undefined

  /** `onEnded` is called after each call. */
  constructor(onEnded: () => void) {
    this.#onEnded = onEnded
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Whether its host has stopped it, or does so now, until its next use. */
  get isAutoStopped(): boolean {
    return this.#isAutoStopped
  }

  get #isInStop(): boolean {
    return this.#stopping !== undefined && this.#inStop.getStore() === true
  }

  /** Runs a call; first starts the sandbox if its host has stopped it. A stop in progress is awaited. */
  async run<Result>(
    call: () => Result | PromiseLike<Result>,
    start: () => Promise<void>,
  ): Promise<Awaited<Result>> {
    if (this.#isInStop) return await call()
    this.#inFlight += 1
    try {
      await this.stopEnded()
      if (this.#isAutoStopped) await this.#startOnce(start)
      return await call()
    } finally {
      this.#inFlight -= 1
      this.#onEnded()
    }
  }

  /** Stops the sandbox until its next use. `stop` is called at once, so that no call begins in between. */
  autoStop(stop: () => Promise<void>): Promise<void> {
    this.#isAutoStopped = true
    this.#stopping ??= this.#inStop.run(true, stop).finally(() => {
      this.#stopping = undefined
    })
    return this.#stopping
  }

  /** Resolves when no stop by its host is in progress any more. */
  async stopEnded(): Promise<void> {
    if (!this.#isInStop) await this.#stopping?.catch(() => undefined)
  }

  /** Its owner stops it: a use does not start it any more, also if its host began to stop it meanwhile. */
  async ownersStop(stop: () => Promise<void>): Promise<void> {
    this.#isAutoStopped = false
    try {
      await stop()
    } finally {
      this.#isAutoStopped = false
    }
  }

  /** Its owner has started it. A stop that its host has begun since then goes on. */
  started(): void {
    if (this.#stopping === undefined) this.#isAutoStopped = false
  }

  #startOnce(start: () => Promise<void>): Promise<void> {
    this.#starting ??= start().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }
}

/** The same object, with these of its methods called by `run`. Methods keep their own `this`: they use private fields. */
export function callsThrough<Target extends object>(
  target: Target,
  isUse: (method: string | symbol) => boolean,
  run: (call: () => unknown) => Promise<unknown>,
): Target {
  return new Proxy(target, {
    get(_target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (!isUse(name)) return value.bind(target)
      return (...given: unknown[]) => run(() => value.apply(target, given))
    },
  })
}
