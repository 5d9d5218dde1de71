import { notifyOne } from '@vitrine/protocol/primitives'
import type { ObserveOptions, OpenSandboxRunOptions, RunHookEvent, SandboxEventMeta } from '../run/options.ts'
import type { SandboxEvent } from '../run/sandbox-event.ts'
import { OrderedObserver } from './ordered-observer.ts'

type Observed = readonly [event: SandboxEvent, meta: SandboxEventMeta]

/** The observers of a run. Each gets copies, none is awaited, and their errors are counted and reported. */
export class RunObservers {
  readonly #options: Pick<OpenSandboxRunOptions, 'hooks' | 'onSandboxEvent'>
  readonly #ordered = new Set<OrderedObserver<Observed>>()
  #errors = 0

  constructor(options: Pick<OpenSandboxRunOptions, 'hooks' | 'onSandboxEvent'>) {
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
        this.#report('onSandboxEvent'),
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
      ...(onOverflow && { onOverflow: ([event, meta]: Observed) => void onOverflow(event, meta) }),
      onError: this.#report('observeEvents'),
    })
    this.#ordered.add(observer)
    return () => void this.#ordered.delete(observer)
  }

  hook(event: RunHookEvent): void {
    const { onEvent } = this.#options.hooks ?? {}
    if (onEvent !== undefined) void notifyOne(onEvent, event, this.#report('onEvent'))
  }

  #report(hook: string): (error: unknown) => void {
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
