import type { Route } from '@vitrine/protocol/http'
import { parseAs } from '@vitrine/protocol/options'
import type { WebSocket } from 'ws'
import { parseJson } from '../routing/parse-json.ts'
import type { SocketInbox } from './inbox.ts'

/** Bytes that may be queued for a client, or from it for a handler, before the connection is closed. */
export const maxQueuedBytes = 4 * 1024 * 1024

/** A WebSocket of a route: text messages are JSON with the route's schemas, binary messages are bytes. */
export class MessageSocket<Sent = unknown, Received = unknown> {
  readonly #socket: WebSocket
  readonly #inbox: SocketInbox
  readonly #schema: Route['clientMessage']
  readonly #closed = new AbortController()

  constructor(socket: WebSocket, inbox: SocketInbox, { clientMessage }: Pick<Route, 'clientMessage'>) {
    this.#socket = socket
    this.#inbox = inbox
    this.#schema = clientMessage
    socket.once('close', () => this.#closed.abort())
    if (socket.readyState !== socket.OPEN) this.#closed.abort()
  }

  /** Aborted when the connection is closed, by either side. */
  get closed(): AbortSignal {
    return this.#closed.signal
  }

  /** Sends nothing on a connection that is closed. A client that does not read is disconnected. */
  send(message: Sent | Uint8Array): void {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return
    socket.send(message instanceof Uint8Array ? message : JSON.stringify(message))
    if (socket.bufferedAmount > maxQueuedBytes) this.close(1013, 'not read')
  }

  /** The next message; undefined when the connection is closed. Rejects for one that the schema refuses; others follow. */
  async next(): Promise<Received | Uint8Array | undefined> {
    const message = await this.#inbox.next()
    if (message === undefined || message.isBinary) return message?.data
    const value = parseJson('message', message.data.toString('utf8'))
    // The handler's types are those of the route, and so is the schema.
    return (this.#schema === undefined ? value : parseAs('message', this.#schema, value)) as Received
  }

  close(code = 1000, reason?: string): void {
    this.#socket.close(code, reason)
  }
}
