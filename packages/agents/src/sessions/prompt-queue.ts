import { type PromptResult, VitrineError } from '@vitrine/protocol'

interface QueuedPrompt {
  readonly turn: string
  readonly run: () => Promise<PromptResult>
  readonly result: PromiseWithResolvers<PromptResult>
}

/** Runs one turn at a time and queues a limited number of others. Every prompt gets a result. */
export class PromptQueue {
  readonly #max: number
  readonly #queued: QueuedPrompt[] = []
  #running = false

  constructor(max: number) {
    this.#max = max
  }

  get busy(): boolean {
    return this.#running
  }

  add(turn: string, run: () => Promise<PromptResult>): Promise<PromptResult> {
    if (this.#running && this.#max === 0)
      throw new VitrineError(
        'session_busy',
        'This session already has a running turn, and its queue is disabled (`queue: 0`).',
      )
    if (this.#queued.length >= this.#max && this.#running)
      throw new VitrineError(
        'session_queue_full',
        `This session already has ${this.#max} queued prompts, the limit of its \`queue\`.`,
      )
    const queued = { turn, run, result: Promise.withResolvers<PromptResult>() }
    this.#queued.push(queued)
    if (!this.#running) void this.#runQueued()
    return queued.result.promise
  }

  /** Removes a queued prompt; false when it runs or has ended. */
  drop(turn: string): boolean {
    const index = this.#queued.findIndex((one) => one.turn === turn)
    const [dropped] = index === -1 ? [] : this.#queued.splice(index, 1)
    dropped?.result.resolve({ turn, outcome: 'cancelled' })
    return dropped !== undefined
  }

  /** Ends all queued prompts with a result or an error. */
  endQueued(resultOf: (turn: string) => PromptResult | VitrineError): void {
    for (const { turn, result: promise } of this.#queued.splice(0)) {
      const result = resultOf(turn)
      if (result instanceof VitrineError) promise.reject(result)
      else promise.resolve(result)
    }
  }

  async #runQueued(): Promise<void> {
    this.#running = true
    for (let next = this.#queued.shift(); next !== undefined; next = this.#queued.shift()) {
      const { run, result } = next
      await run().then(result.resolve, result.reject)
    }
    this.#running = false
  }
}
