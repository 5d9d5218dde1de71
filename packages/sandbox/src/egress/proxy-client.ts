import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'

/** Pipelined requests that may wait on one connection. Real clients send one. */
const mostPending = 16

/** One connection from inside the sandbox, over all the requests that it carries. */
export class ProxyClient {
  readonly socket: Socket
  readonly process: string | undefined
  /** Aborts when the connection is gone. */
  readonly gone: AbortSignal
  /** Set once it went too far: whatever else it asks for is not heard. */
  rejected = false
  readonly #headerMs: number
  #pending = 0
  #deadline: NodeJS.Timeout | undefined

  constructor(socket: Socket, process: string | undefined, headerMs: number) {
    this.socket = socket
    this.process = process
    this.#headerMs = headerMs
    const leaving = new AbortController()
    this.gone = leaving.signal
    setMaxListeners(0, this.gone)
    socket.once('close', () => {
      clearTimeout(this.#deadline)
      leaving.abort()
    })
    this.#expectRequest()
  }

  get idle(): boolean {
    return this.#pending === 0
  }

  get overLimit(): boolean {
    return this.#pending >= mostPending
  }

  begin(): void {
    this.#pending += 1
    clearTimeout(this.#deadline)
  }

  end(): void {
    this.#pending -= 1
    if (this.idle && !this.socket.destroyed) this.#expectRequest()
  }

  /** Also bounds how long the rest of a refused connection is listened to. */
  #expectRequest(): void {
    clearTimeout(this.#deadline)
    this.#deadline = setTimeout(() => this.socket.destroy(), this.#headerMs)
  }
}
