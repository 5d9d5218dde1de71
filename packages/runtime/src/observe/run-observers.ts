import type { Outcome } from '@vitrine/protocol'
import { notifyOne } from '@vitrine/protocol/primitives'
import type { SandboxEvent, SandboxEventMeta, TurnKind } from '../events/sandbox-event.ts'
import { OrderedObserver } from './ordered-observer.ts'

/** A step of a run: the run itself, or one turn of it. */
export interface RunHookEvent {
  readonly target: 'agent.run' | 'agent.turn'
  readonly phase: 'before' | 'after' | 'error'
  readonly runId: string
  readonly turnIndex?: number
  readonly turnKind?: TurnKind
  readonly outcome?: Outcome
  readonly error?: unknown
}

export interface RunHooks {
  /** Called at each step. It is not awaited, and its errors go to `onHookError`. */
  onEvent?(event: RunHookEvent): unknown
  onHookError?(error: unknown, failure: { readonly hook: string; readonly errors: number }): unknown
}

export interface ObserveOptions {
  /** The most events that wait for the handler; default 1,000. */
  readonly buffer?: number
  /** Called with each event that does not fit. */
  onOverflow?(event: SandboxEvent, meta: SandboxEventMeta): unknown
}

interface Observers {
  readonly hooks?: RunHooks
  onSandboxEvent?(event: SandboxEvent, meta: SandboxEventMeta): void | PromiseLike<void>
}

type Observed = readonly [event: SandboxEvent, meta: SandboxEventMeta]

/** The observers of a run. Each gets copies, none is awaited, and their errors are counted and reported. */
export class RunObservers {
  readonly #options: Observers
  readonly #ordered = new Set<OrderedObserver<Observed>>()
  #errors = 0

  constructor(options: Observers) {
    this.#options = options
  }

  show(event: SandboxEvent, turn: Omit<SandboxEventMeta, 'seq' | 'time'>): void {
    const { onSandboxEvent } = this.#options
    if (onSandboxEvent === undefined && this.#ordered.size === 0) return
    const { seq, time } = event
    const copied = (): Observed => [
      structuredClone(event),
      { ...turn, ...(seq !== undefined && { seq }), ...(time !== undefined && { time }) },
    ]
    if (onSandboxEvent !== undefined)
      void notifyOne(
        ([copy, meta]: Observed) => onSandboxEvent(copy, meta),
        copied(),
        this.report('onSandboxEvent'),
      )
    for (const observer of this.#ordered) observer.take(copied())
  }

  /** Returns a function that removes the handler. */
  add(
    handler: (event: SandboxEvent, meta: SandboxEventMeta) => unknown,
    { buffer, onOverflow }: ObserveOptions,
  ): () => void {
    const observer = new OrderedObserver<Observed>(([event, meta]) => handler(event, meta), {
      ...(buffer !== undefined && { buffer }),
      ...(onOverflow && { onOverflow: ([event, meta]: Observed) => onOverflow(event, meta) }),
      onError: this.report('observeEvents'),
    })
    this.#ordered.add(observer)
    return () => {
      this.#ordered.delete(observer)
      observer.close()
    }
  }

  hook(event: RunHookEvent): void {
    const { onEvent } = this.#options.hooks ?? {}
    if (onEvent !== undefined) void notifyOne(onEvent, event, this.report('onEvent'))
  }

  /** Returns a function that counts an error of this observer and gives it to `onHookError`. */
  report(hook: string): (error: unknown) => void {
    return (error) => {
      this.#errors += 1
      const { onHookError } = this.#options.hooks ?? {}
      const failure = { hook, errors: this.#errors }
      if (onHookError !== undefined)
        void notifyOne(
          (given: typeof failure) => onHookError(error, given),
          failure,
          () => undefined,
        )
    }
  }
}
