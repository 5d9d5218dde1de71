import { VitrineError } from '@vitrine/protocol'
import type { HttpRequest } from '../http/http-request.ts'

interface InFlightCall {
  readonly caller: string
  readonly cancelled: AbortController
  readonly ended: Promise<unknown>
}

/**
 * Calls that can be called off by their id. Who only drops the connection learns nothing any more; who calls off is
 * told what really came of it.
 */
export class InFlightCalls {
  readonly #running = new Map<string, InFlightCall>()

  /** Runs a call under its id; one that was called off before it began begins aborted. */
  async run<T>(
    id: string,
    request: Pick<HttpRequest, 'header'>,
    caller: string,
    run: (cancelled: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (!/^[\w.-]{8,128}$/.test(id) || this.#running.has(id))
      throw new VitrineError(
        'argument_invalid',
        'vitrine-call: expected an id of 8 to 128 letters and digits of its own.',
      )
    const cancelled = new AbortController()
    if (request.header('vitrine-cancelled') === 'true') cancelled.abort()
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    this.#running.set(id, { caller, cancelled, ended })
    try {
      return await run(cancelled.signal)
    } finally {
      this.#running.delete(id)
      end()
    }
  }

  /** Settles once the call has ended. Nobody calls off what another token began. */
  async cancel(id: string, caller: string): Promise<void> {
    const call = this.#running.get(id)
    if (call === undefined || call.caller !== caller) return
    call.cancelled.abort()
    await call.ended
  }
}
