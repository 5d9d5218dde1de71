import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentInstance } from './agent-instance.ts'
import { cancelled, giveUpMs, withinTime } from './limits.ts'

/** An agent that is being started, for one or for several who wait for it. It is given up with the last of them. */
export class Starting {
  readonly #givenUp = new AbortController()
  readonly #instance: Promise<AgentInstance>
  #waiting = 0

  constructor(start: (signal: AbortSignal) => Promise<AgentInstance>) {
    this.#instance = start(this.#givenUp.signal)
    this.#instance.catch(() => undefined)
  }

  async wait(what: string, signal: AbortSignal | undefined): Promise<AgentInstance> {
    this.#waiting += 1
    try {
      return await withinTime(this.#instance, Number.POSITIVE_INFINITY, what, signal)
    } finally {
      this.#waiting -= 1
      if (this.#waiting === 0 && signal?.aborted) await this.#giveUp(what)
    }
  }

  async #giveUp(what: string): Promise<void> {
    this.#givenUp.abort(cancelled(what))
    const ended = this.#instance.then(
      (instance) => (instance.idle ? instance.end(0) : undefined),
      () => undefined,
    )
    // It may be installed at the moment; then it ends by itself as soon as it has begun.
    await Promise.race([ended, sleep(giveUpMs, undefined, { ref: false })])
  }
}
