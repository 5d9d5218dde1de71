import { VitrineError } from '@vitrine/protocol'
import { shown } from '@vitrine/protocol/primitives'
import type { HttpRequest } from '../http/http-request.ts'

interface InFlightCall {
  readonly caller: string
  readonly cancelled: AbortController
  readonly ended: Promise<unknown>
}

/**
 * Running calls that can be cancelled by id. A client that only drops its connection does not learn the outcome; one
 * that cancels still gets the response.
 */
export class InFlightCalls {
  readonly #running = new Map<string, InFlightCall>()

  /** Runs a call under its id. With `vitrine-cancelled: true` the signal is aborted from the start. */
  async run<T>(
    id: string,
    request: Pick<HttpRequest, 'header'>,
    caller: string,
    run: (cancelled: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (!/^[\w.-]{8,128}$/.test(id))
      throw new VitrineError(
        'argument_invalid',
        `vitrine-call: expected an id of 8 to 128 letters, digits, "_", "." and "-", got ${shown(id)}.`,
      )
    if (this.#running.has(id))
      throw new VitrineError('argument_invalid', `vitrine-call: a call with the id ${id} is running.`)
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

  /** Cancels a call and waits for its end. A call of another token is left alone. */
  async cancel(id: string, caller: string): Promise<void> {
    const call = this.#running.get(id)
    if (call === undefined || call.caller !== caller) return
    call.cancelled.abort()
    await call.ended
  }
}
