import type { WebSocket } from 'ws'

export interface SocketMessage {
  readonly data: Buffer
  readonly isBinary: boolean
}

/** Queues the messages of a socket from the moment it opens, until they are read in order. */
export class SocketInbox {
  /** Queued bytes above which the next message closes the connection. */
  maxBytes: number
  readonly #queue: SocketMessage[] = []
  #bytes = 0
  #wake = () => {}
  #isClosed = false

  constructor(socket: WebSocket, maxBytes: number) {
    this.maxBytes = maxBytes
    socket.on('message', (data, isBinary) => {
      if (this.#bytes > this.maxBytes) return socket.close(1013, 'too many queued bytes')
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

  /** The next message; undefined when the socket is closed and the queue is empty. */
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
