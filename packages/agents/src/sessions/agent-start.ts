import { settledWithin } from '@vitrine/protocol/primitives'
import type { AgentInstance } from './agent-instance.ts'
import { cancelledError, cancelStartMs, withTimeLimit } from './limits.ts'

/** An agent that is being started for one or more waiting sessions. The start is cancelled when the last of them aborts. */
export class AgentStart {
  readonly #cancellation = new AbortController()
  readonly #instance: Promise<AgentInstance>
  #waiting = 0

  constructor(start: (signal: AbortSignal) => Promise<AgentInstance>) {
    this.#instance = start(this.#cancellation.signal)
    this.#instance.catch(() => undefined)
  }

  async wait(description: string, signal: AbortSignal | undefined): Promise<AgentInstance> {
    this.#waiting += 1
    try {
      return await withTimeLimit(this.#instance, Number.POSITIVE_INFINITY, description, signal)
    } finally {
      this.#waiting -= 1
      if (this.#waiting === 0 && signal?.aborted) await this.#cancel(description)
    }
  }

  async #cancel(description: string): Promise<void> {
    this.#cancellation.abort(cancelledError(description))
    const stopped = this.#instance.then(
      (instance) => (instance.idle ? instance.end(0) : undefined),
      () => undefined,
    )
    // If the agent is still being installed, it is stopped as soon as it has started.
    await settledWithin(stopped, cancelStartMs)
  }
}
