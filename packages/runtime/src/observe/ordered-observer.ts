import { VitrineError } from '@vitrine/protocol'
import { notifyOne } from '@vitrine/protocol/primitives'

export interface OrderedObserverOptions<Value> {
  /** The most values that wait for the handler; default 1,000. */
  readonly buffer?: number
  /** Called for each value that does not fit; without it, each is an error. */
  onOverflow?(value: Value): unknown
  readonly onError: (error: unknown) => void
}

/** Calls a handler with one value after the other, and awaits each call. Values that do not fit are dropped. */
export class OrderedObserver<Value> {
  readonly #handler: (value: Value) => unknown
  readonly #options: OrderedObserverOptions<Value>
  readonly #waiting: Value[] = []
  #isBusy = false

  constructor(handler: (value: Value) => unknown, options: OrderedObserverOptions<Value>) {
    this.#handler = handler
    this.#options = options
  }

  take(value: Value): void {
    const { buffer = 1_000, onOverflow, onError } = this.#options
    if (this.#waiting.length >= buffer) {
      if (onOverflow === undefined) onError(fellBehind(buffer))
      else void notifyOne(onOverflow, value, onError)
      return
    }
    this.#waiting.push(value)
    if (!this.#isBusy) void this.#drain()
  }

  /** The values that wait are not shown any more. */
  close(): void {
    this.#waiting.length = 0
  }

  async #drain(): Promise<void> {
    this.#isBusy = true
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      await notifyOne(this.#handler, next, this.#options.onError)
    this.#isBusy = false
  }
}

function fellBehind(buffer: number): VitrineError {
  return new VitrineError(
    'reader_fell_behind',
    `An event was dropped: the handler has ${buffer} events to take.`,
  )
}
