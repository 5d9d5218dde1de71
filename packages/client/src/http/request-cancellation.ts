import { VitrineError } from '@vitrine/protocol'
import type { CancellableCall } from './cancellable-call.ts'
import { connectionFailed } from './failures.ts'

type EndReason = 'caller' | 'closed' | 'late' | 'silent' | 'reader-stopped'

export interface RequestCancellationOptions {
  readonly endpoint: string
  readonly caller: AbortSignal | undefined
  readonly closing: AbortSignal
  readonly limitMs: number | undefined
  /** Cancels the call at the server; without it, the connection is dropped at once. */
  readonly call: CancellableCall | undefined
}

/** Ends one request early: by its caller, by closing the client, or by a time limit; and gives the error for it. */
export class RequestCancellation {
  readonly #controller = new AbortController()
  readonly #detached = new AbortController()
  readonly #options: RequestCancellationOptions
  readonly #onCaller = () => {
    const { call } = this.#options
    if (call === undefined) this.end('caller')
    else this.#serverCancel ??= this.#cancel(call)
  }
  readonly #onClosed = () => this.end('closed')
  #timer: ReturnType<typeof setTimeout> | undefined
  #isStreaming = false
  #serverCancel: Promise<void> | undefined
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

  /** The cancel request to the server, once the caller has cancelled. */
  get serverCancel(): Promise<void> | undefined {
    return this.#serverCancel
  }

  end(reason: EndReason): void {
    this.#reason ??= reason
    this.detach()
    this.#controller.abort()
  }

  /** The response has begun and is a stream: its reader decides how long the rest takes. */
  stopTimeLimit(): void {
    this.#isStreaming = true
    clearTimeout(this.#timer)
  }

  /** Stops the timer and no longer listens to the caller and the client. */
  detach(): void {
    const { caller, closing } = this.#options
    clearTimeout(this.#timer)
    this.#detached.abort()
    caller?.removeEventListener('abort', this.#onCaller)
    closing.removeEventListener('abort', this.#onClosed)
  }

  /** The error of a failed request, by the reason it was ended for. */
  error(cause?: unknown): VitrineError {
    const { endpoint, caller, closing, limitMs } = this.#options
    switch (this.#reason ?? (caller?.aborted ? 'caller' : undefined)) {
      case 'caller':
        return new VitrineError('cancelled', 'The request was cancelled before it was done.', {
          cause: caller?.reason,
        })
      case 'closed':
        return connectionFailed(`${endpoint}: this ${closing.reason} was closed.`)
      case 'late':
        return connectionFailed(`${endpoint}: no response within ${limitMs} ms.`)
      case 'silent':
        return connectionFailed(`${endpoint}: the stream sent nothing within its idle limit.`)
      case 'reader-stopped':
      case undefined:
        return connectionFailed(`${endpoint}: the connection failed (${reasonOf(cause)}).`, cause)
    }
  }

  /** Cancels at the server, whose response has the outcome; drops the connection if no response arrives. */
  async #cancel(call: CancellableCall): Promise<void> {
    await call.cancel(this.#detached.signal, () => this.#isStreaming)
    if (!this.#detached.signal.aborted) this.end('caller')
  }
}

/** The message of the error's cause: `fetch failed` alone explains nothing. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it ended early'
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message
}
