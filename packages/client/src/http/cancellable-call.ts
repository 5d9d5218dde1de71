import { randomHex } from '@vitrine/protocol'
import { pathOf } from './address.ts'
import type { HttpClient } from './http-client.ts'

const firstPauseMs = 20

/** A call with an id, by which the client can cancel it at the server. */
export class CancellableCall {
  /** The call was cancelled before it was sent. It is still sent, without a body, so that the server records it. */
  readonly isCancelled: boolean
  readonly #id = `call_${randomHex(16)}`
  readonly #http: HttpClient

  constructor(http: HttpClient, caller: AbortSignal) {
    this.#http = http
    this.isCancelled = caller.aborted
  }

  headers(): Record<string, string> {
    return { 'vitrine-call': this.#id, ...(this.isCancelled && { 'vitrine-cancelled': 'true' }) }
  }

  /** Settles when `responded` aborts, which means that the response has arrived, or after `cancelMs`. */
  async cancel(responded: AbortSignal, isStreaming: () => boolean): Promise<void> {
    const { timing } = this.#http
    const over = AbortSignal.any([responded, AbortSignal.timeout(timing.cancelMs)])
    if (this.isCancelled) return aborted(over)
    // Repeated: it uses another connection, so it may reach the server before the call itself.
    for (let pauseMs = firstPauseMs; !over.aborted; pauseMs *= 2) {
      await this.#sendCancel(over)
      // A stream has begun its response already; no other one will follow.
      if (isStreaming()) return
      await timing.sleep(pauseMs, over)
    }
  }

  async #sendCancel(signal: AbortSignal): Promise<void> {
    const { url } = this.#http
    const address = `${url}${pathOf(['calls', this.#id])}`
    try {
      const response = await this.#http.fetch(address, {
        method: 'DELETE',
        headers: this.#http.headers(),
        signal,
      })
      await response.arrayBuffer()
    } catch {
      // The response of the call shows whether it was cancelled.
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
