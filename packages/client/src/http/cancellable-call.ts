import { randomHex } from '@vitrine/protocol'
import { pathOf } from './address.ts'
import type { HttpClient } from './http-client.ts'

const firstPauseMs = 20

/** A call under an id, by which the server can be told that its caller called it off. */
export class CancellableCall {
  /** It was called off before it was sent: it is sent all the same, for the record, with nothing to work on. */
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

  /** Settles when the answer is there, which is when `answered` aborts, or when it has been waited for long enough. */
  async cancel(responded: AbortSignal, isStreaming: () => boolean): Promise<void> {
    const { timing } = this.#http
    const over = AbortSignal.any([responded, AbortSignal.timeout(timing.cancelMs)])
    if (this.isCancelled) return aborted(over)
    // Again and again: on a connection of its own, this may be there before the call itself.
    for (let pauseMs = firstPauseMs; !over.aborted; pauseMs *= 2) {
      await this.#sendCancel(over)
      // What is still to come of a stream was called off; there will be no other answer.
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
      // Whether it was heard shows in the answer of the call.
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
