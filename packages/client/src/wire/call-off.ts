import { VitrineError } from '@vitrine/protocol'
import { connectionFailed } from './failures.ts'

type Why = 'caller' | 'closed' | 'late' | 'silent' | 'left'

export interface CallOffOptions {
  readonly where: string
  readonly caller: AbortSignal | undefined
  readonly closing: AbortSignal
  readonly limitMs: number | undefined
}

/** What can end one request before its time, and how that is told. Released, it holds on to nothing. */
export class CallOff {
  readonly #controller = new AbortController()
  readonly #options: CallOffOptions
  readonly #onCaller = () => this.end('caller')
  readonly #onClosed = () => this.end('closed')
  #timer: ReturnType<typeof setTimeout> | undefined
  #why: Why | undefined

  constructor(options: CallOffOptions) {
    const { caller, closing, limitMs } = options
    this.#options = options
    caller?.addEventListener('abort', this.#onCaller)
    closing.addEventListener('abort', this.#onClosed)
    if (limitMs !== undefined) this.#timer = setTimeout(() => this.end('late'), limitMs)
    if (closing.aborted) this.end('closed')
    if (caller?.aborted) this.end('caller')
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  end(why: Why): void {
    this.#why ??= why
    this.release()
    this.#controller.abort()
  }

  /** The answer has begun: how long the rest takes is up to whoever reads it. */
  stopClock(): void {
    clearTimeout(this.#timer)
  }

  release(): void {
    const { caller, closing } = this.#options
    this.stopClock()
    caller?.removeEventListener('abort', this.#onCaller)
    closing.removeEventListener('abort', this.#onClosed)
  }

  /** Why a request failed, whatever it failed with. */
  error(cause?: unknown): VitrineError {
    const { where, caller, limitMs } = this.#options
    switch (this.#why) {
      case 'caller':
        return new VitrineError('cancelled', 'It was called off before it was done.', {
          cause: caller?.reason,
        })
      case 'closed':
        return connectionFailed(`${where}: this client was closed.`)
      case 'late':
        return connectionFailed(`${where}: there was no answer within ${limitMs} ms.`)
      case 'silent':
        return connectionFailed(`${where}: the stream fell silent.`)
      case 'left':
      case undefined:
        return connectionFailed(`${where}: the connection failed (${reasonOf(cause)}).`, cause)
    }
  }
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it ended too early'
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message
}
