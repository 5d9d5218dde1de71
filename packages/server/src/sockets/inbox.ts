import type { WebSocket } from 'ws'

export interface SocketMessage {
  readonly data: Buffer
  readonly isBinary: boolean
}

/** What comes over a socket, from its first moment on and in its order, however late somebody listens. */
export class SocketInbox {
  /** What may wait here before the connection is closed. */
  maxBytes: number
  readonly #queue: SocketMessage[] = []
  #bytes = 0
  #wake = () => {}
  #isClosed = false

  constructor(socket: WebSocket, maxBytes: number) {
    this.maxBytes = maxBytes
    socket.on('message', (data, isBinary) => {
      if (this.#bytes > this.maxBytes) return socket.close(1013, 'too much at once')
      const message = { data: data as Buffer, isBinary }
      this.#queue.push(message)
      this.#bytes += message.data.length
      this.#wake()
    })
    socket.once('close', () => {
      this.#isClosed = true
      this.#wake()
    })
  }

  /** The next message; nothing once the socket is closed. */
  async next(): Promise<SocketMessage | undefined> {
    while (this.#queue.length === 0 && !this.#isClosed) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
    const message = this.#queue.shift()
    this.#bytes -= message?.data.length ?? 0
    return message
  }
}
