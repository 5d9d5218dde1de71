import type { WebSocket } from 'ws'

export interface Received {
  readonly data: Buffer
  readonly isBinary: boolean
}

/** What comes over a socket, from its first moment on and in its order, however late somebody listens. */
export class Inbox {
  /** What may wait here before the connection is closed. */
  maxBytes: number
  readonly #waiting: Received[] = []
  #bytes = 0
  #wake = () => {}
  #isClosed = false

  constructor(socket: WebSocket, maxBytes: number) {
    this.maxBytes = maxBytes
    socket.on('message', (data, isBinary) => {
      if (this.#bytes > this.maxBytes) return socket.close(1013, 'too much at once')
      const message = { data: data as Buffer, isBinary }
      this.#waiting.push(message)
      this.#bytes += message.data.length
      this.#wake()
    })
    socket.once('close', () => {
      this.#isClosed = true
      this.#wake()
    })
  }

  /** The next message; nothing once the socket is closed. */
  async next(): Promise<Received | undefined> {
    while (this.#waiting.length === 0 && !this.#isClosed) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
    const message = this.#waiting.shift()
    this.#bytes -= message?.data.length ?? 0
    return message
  }
}
