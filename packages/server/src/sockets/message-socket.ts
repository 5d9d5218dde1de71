import type { Route } from '@vitrine/protocol/http'
import { parseAs } from '@vitrine/protocol/options'
import type { WebSocket } from 'ws'
import type { RouteSocket } from '../routing/call.ts'
import { parseJson } from '../routing/parse-json.ts'
import type { SocketInbox } from './inbox.ts'

/** Bytes that may be queued for a client, or from it for a handler, before the connection is closed. */
export const maxQueuedBytes = 4 * 1024 * 1024

/** The connection of a route on a WebSocket. */
export class MessageSocket implements RouteSocket {
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

  get closed(): AbortSignal {
    return this.#closed.signal
  }

  send(message: unknown): void {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return
    socket.send(message instanceof Uint8Array ? message : JSON.stringify(message))
    if (socket.bufferedAmount > maxQueuedBytes) this.close(1013, 'not read')
  }

  async next(): Promise<unknown> {
    const message = await this.#inbox.next()
    if (message === undefined || message.isBinary) return message?.data
    const value = parseJson('message', message.data.toString('utf8'))
    return this.#schema === undefined ? value : parseAs('message', this.#schema, value)
  }

  close(code = 1000, reason?: string): void {
    this.#socket.close(code, reason)
  }
}
