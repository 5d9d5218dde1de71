import type { Outcome } from '@vitrine/protocol'
import { copyEvent, notifyOne } from '@vitrine/protocol/primitives'
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

/** The place of all events of a turn. */
type TurnMeta = Omit<SandboxEventMeta, 'seq' | 'time'>

type Observed = readonly [event: SandboxEvent, meta: SandboxEventMeta]

/** The observers of a run. Each gets copies, none is awaited, and their errors are counted and reported. */
export class RunObservers {
  readonly #options: Observers
  readonly #ordered = new Set<OrderedObserver<Observed>>()
  #errors = 0

  constructor(options: Observers) {
    this.#options = options
  }

  show(event: SandboxEvent, turn: TurnMeta): void {
    const { onSandboxEvent } = this.#options
    if (onSandboxEvent !== undefined)
      void notifyOne(
        ([copy, meta]: Observed) => onSandboxEvent(copy, meta),
        observed(event, turn),
        this.report('onSandboxEvent'),
      )
    for (const observer of this.#ordered) observer.take(observed(event, turn))
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

/** Copies an event for one observer, which may change it. */
function observed(event: SandboxEvent, turn: TurnMeta): Observed {
  const { seq, time } = event
  const meta = { ...turn, ...(seq !== undefined && { seq }), ...(time !== undefined && { time }) }
  return [copyEvent(event), meta]
}
