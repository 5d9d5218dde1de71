import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'

/** The maximum of pipelined requests on one connection. Real clients send one at a time. */
const maxPending = 16

/** A connection from inside the sandbox, which may carry several requests. */
export class ProxyClient {
  readonly socket: Socket
  readonly process: string | undefined
  /** Aborts when the client's connection closes. */
  readonly disconnected: AbortSignal
  /** Set once the client exceeded a limit or sent malformed HTTP: further requests are ignored. */
  rejected = false
  readonly #headerMs: number
  #pending = 0
  #deadline: NodeJS.Timeout | undefined

  constructor(socket: Socket, process: string | undefined, headerMs: number) {
    this.socket = socket
    this.process = process
    this.#headerMs = headerMs
    const disconnection = new AbortController()
    this.disconnected = disconnection.signal
    setMaxListeners(0, this.disconnected)
    socket.once('close', () => {
      clearTimeout(this.#deadline)
      disconnection.abort()
    })
    this.#expectRequest()
  }

  get idle(): boolean {
    return this.#pending === 0
  }

  get overLimit(): boolean {
    return this.#pending >= maxPending
  }

  begin(): void {
    this.#pending += 1
    clearTimeout(this.#deadline)
  }

  end(): void {
    this.#pending -= 1
    if (this.idle && !this.socket.destroyed) this.#expectRequest()
  }

  /** Starts the timeout for the next request. It also bounds how long a refused connection stays open. */
  #expectRequest(): void {
    clearTimeout(this.#deadline)
    this.#deadline = setTimeout(() => this.socket.destroy(), this.#headerMs)
  }
}
