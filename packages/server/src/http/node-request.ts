import type { IncomingMessage, ServerResponse } from 'node:http'
import { VitrineError } from '@vitrine/protocol'
import { setAuthenticated } from '../guard/authenticated.ts'
import type { Caller } from '../guard/caller.ts'
import { hostName } from '../guard/host-header.ts'
import { authorizationOf, checkSingleHeaders, requestPath } from '../guard/request-head.ts'
import type { HttpRequest } from './http-request.ts'

/** A body up to this size arrives in few parts, so it needs no byte stream. */
const smallBytes = 64 * 1024

/** A request to a Node server. */
export class NodeRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly search: string
  readonly protocol = 'http:'
  readonly host: string
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  #body: ReadableStream<Uint8Array> | undefined
  #disconnected: AbortController | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    const { method = 'GET', url = '/', headers, rawHeaders } = incoming
    const { host } = headers
    checkSingleHeaders(rawHeaders)
    if (host === undefined || hostName(host) === undefined)
      throw new VitrineError(
        'host_refused',
        `Host: expected a host name, got ${host === undefined ? 'none' : 'another text'}.`,
      )
    const at = url.indexOf('?')
    const search = at === -1 ? '' : url.slice(at)
    this.method = method
    this.path = requestPath(url)
    this.search = search === '?' ? '' : search
    this.host = host
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  header(name: string): string | undefined {
    if (name === 'authorization') return authorizationOf(this.#incoming)
    const value = this.#incoming.headers[name]
    return typeof value === 'object' ? value.join(', ') : value
  }

  headers(): IncomingMessage['headers'] {
    return this.#incoming.headers
  }

  setAuthenticated(access: Caller['access']): void {
    setAuthenticated(this.#incoming.socket, access)
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (!hasBody(this.#incoming)) return null
    this.#body ??=
      Number(this.#incoming.headers['content-length']) <= smallBytes
        ? partStreamOf(this.#incoming)
        : byteStreamOf(this.#incoming)
    return this.#body
  }

  get signal(): AbortSignal {
    this.#disconnected ??= abortOnDisconnect(this.#outgoing)
    return this.#disconnected.signal
  }
}

function hasBody({ method, headers }: IncomingMessage): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Reads on demand, so that an unread body applies backpressure to the client. */
function partStreamOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  // A handler that stops reading still sends its response on this connection.
  const parts = incoming.iterator({ destroyOnReturn: false })
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await parts.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await parts.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

/**
 * Reads on demand as a byte stream. A BYOB reader gets a copy, and the part's memory is released at once; otherwise the
 * parts of a large body would pile up until the garbage collector runs.
 */
function byteStreamOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const parts = incoming.iterator({ destroyOnReturn: false })
  let part: Uint8Array<ArrayBuffer> | undefined
  let at = 0
  return new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      if (part === undefined) {
        const { done, value } = await parts.next()
        if (done) {
          controller.close()
          controller.byobRequest?.respond(0)
          return
        }
        part = value as Uint8Array<ArrayBuffer>
        at = 0
      }
      const whole = part
      // A small part may share its memory with Node's buffer pool.
      const isOwn = whole.byteLength === whole.buffer.byteLength
      const view = controller.byobRequest?.view
      if (view == null) {
        part = undefined
        controller.enqueue(isOwn && at === 0 ? whole : new Uint8Array(whole.subarray(at)))
        return
      }
      const count = Math.min(whole.byteLength - at, view.byteLength)
      new Uint8Array(view.buffer, view.byteOffset).set(whole.subarray(at, at + count))
      at += count
      if (at === whole.byteLength) {
        part = undefined
        if (isOwn) whole.buffer.transfer(0)
      }
      controller.byobRequest!.respond(count)
    },
    async cancel() {
      await parts.return?.()
    },
  })
}

function abortOnDisconnect(outgoing: ServerResponse): AbortController {
  const leaving = new AbortController()
  const cancel = () => {
    if (!outgoing.writableFinished) leaving.abort()
  }
  if (outgoing.destroyed) cancel()
  else outgoing.once('close', cancel)
  return leaving
}
