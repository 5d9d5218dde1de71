import { type PromptResult, VitrineError } from '@vitrine/protocol'

interface QueuedPrompt {
  readonly turn: string
  readonly run: () => Promise<PromptResult>
  readonly answer: PromiseWithResolvers<PromptResult>
}

/** One turn at a time; the others wait, so many and no more, and each of them is answered. */
export class PromptQueue {
  readonly #max: number
  readonly #waiting: QueuedPrompt[] = []
  #running = false

  constructor(max: number) {
    this.#max = max
  }

  get busy(): boolean {
    return this.#running
  }

  add(turn: string, run: () => Promise<PromptResult>): Promise<PromptResult> {
    if (this.#running && this.#max === 0)
      throw new VitrineError('session_busy', 'A turn of this session runs already.')
    if (this.#waiting.length >= this.#max && this.#running)
      throw new VitrineError('session_queue_full', `${this.#max} prompts of this session wait already.`)
    const waiting = { turn, run, answer: Promise.withResolvers<PromptResult>() }
    this.#waiting.push(waiting)
    if (!this.#running) void this.#work()
    return waiting.answer.promise
  }

  /** Takes one out that waits; false when it runs or is over. */
  drop(turn: string): boolean {
    const at = this.#waiting.findIndex((one) => one.turn === turn)
    const [dropped] = at === -1 ? [] : this.#waiting.splice(at, 1)
    dropped?.answer.resolve({ turn, outcome: 'cancelled' })
    return dropped !== undefined
  }

  /** Answers all that wait. */
  answerWaiting(answer: (turn: string) => PromptResult | VitrineError): void {
    for (const { turn, answer: promise } of this.#waiting.splice(0)) {
      const result = answer(turn)
      if (result instanceof VitrineError) promise.reject(result)
      else promise.resolve(result)
    }
  }

  async #work(): Promise<void> {
    this.#running = true
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const { run, answer } = next
      await run().then(answer.resolve, answer.reject)
    }
    this.#running = false
  }
}
