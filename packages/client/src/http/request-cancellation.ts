import { VitrineError } from '@vitrine/protocol'
import type { CancellableCall } from './cancellable-call.ts'
import { connectionFailed } from './failures.ts'

type EndReason = 'caller' | 'closed' | 'late' | 'silent' | 'left'

export interface RequestCancellationOptions {
  readonly endpoint: string
  readonly caller: AbortSignal | undefined
  readonly closing: AbortSignal
  readonly limitMs: number | undefined
  /** By which the server learns that the caller called it off; without one, the connection is dropped at once. */
  readonly call: CancellableCall | undefined
}

/** What can end one request before its time, and how that is told. Released, it holds on to nothing. */
export class RequestCancellation {
  readonly #controller = new AbortController()
  readonly #released = new AbortController()
  readonly #options: RequestCancellationOptions
  readonly #onCaller = () => {
    const { call } = this.#options
    if (call === undefined) this.end('caller')
    else this.#cancelling ??= this.#cancel(call)
  }
  readonly #onClosed = () => this.end('closed')
  #timer: ReturnType<typeof setTimeout> | undefined
  #isStreaming = false
  #cancelling: Promise<void> | undefined
  #reason: EndReason | undefined

  constructor(options: RequestCancellationOptions) {
    const { caller, closing, limitMs } = options
    this.#options = options
    caller?.addEventListener('abort', this.#onCaller)
    closing.addEventListener('abort', this.#onClosed)
    if (limitMs !== undefined) this.#timer = setTimeout(() => this.end('late'), limitMs)
    if (closing.aborted) this.end('closed')
    if (caller?.aborted) this.#onCaller()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** While the caller has it called off, and after that: settles when that is done. */
  get cancelling(): Promise<void> | undefined {
    return this.#cancelling
  }

  end(reason: EndReason): void {
    this.#reason ??= reason
    this.release()
    this.#controller.abort()
  }

  /** The answer has begun, and is a stream: how long the rest takes is up to whoever reads it. */
  beginStream(): void {
    this.#isStreaming = true
    clearTimeout(this.#timer)
  }

  release(): void {
    const { caller, closing } = this.#options
    clearTimeout(this.#timer)
    this.#released.abort()
    caller?.removeEventListener('abort', this.#onCaller)
    closing.removeEventListener('abort', this.#onClosed)
  }

  /** Why a request failed, whatever it failed with. */
  error(cause?: unknown): VitrineError {
    const { endpoint, caller, limitMs } = this.#options
    switch (this.#reason ?? (caller?.aborted ? 'caller' : undefined)) {
      case 'caller':
        return new VitrineError('cancelled', 'It was called off before it was done.', {
          cause: caller?.reason,
        })
      case 'closed':
        return connectionFailed(`${endpoint}: this client was closed.`)
      case 'late':
        return connectionFailed(`${endpoint}: there was no answer within ${limitMs} ms.`)
      case 'silent':
        return connectionFailed(`${endpoint}: the stream fell silent.`)
      case 'left':
      case undefined:
        return connectionFailed(`${endpoint}: the connection failed (${reasonOf(cause)}).`, cause)
    }
  }

  /** The server first: only it can say what came of the call. The connection is dropped when it does not say. */
  async #cancel(call: CancellableCall): Promise<void> {
    await call.cancel(this.#released.signal, () => this.#isStreaming)
    if (!this.#released.signal.aborted) this.end('caller')
  }
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it ended too early'
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message
}
