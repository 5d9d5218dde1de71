import type { IncomingMessage, ServerResponse } from 'node:http'
import { VitrineError } from '@vitrine/protocol'
import { hostName } from '../guard/hosts.ts'
import type { Asked } from './asked.ts'

/** What the parser of addresses leaves as it is. */
const plainPath = /^(?!.*(?:\/\.|%2e))\/[\w\-.~!$&'()*+,;=:@%/]*$/i

/** A request to a server of Node. */
export class Incoming implements Asked {
  readonly method: string
  readonly path: string
  readonly search: string
  readonly protocol = 'http:'
  readonly host: string
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  #body: ReadableStream<Uint8Array> | undefined
  #leaving: AbortController | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    const { method = 'GET', url = '/', headers } = incoming
    const { host } = headers
    if (host === undefined || hostName(host) === undefined)
      throw new VitrineError('host_refused', 'The Host header is missing, or is not the name of a host.')
    const at = url.indexOf('?')
    const path = at === -1 ? url : url.slice(0, at)
    const search = at === -1 ? '' : url.slice(at)
    this.method = method
    this.path = plainPath.test(path) ? path : parsedPath(path, host)
    this.search = search === '?' ? '' : search
    this.host = host
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  header(name: string): string | undefined {
    const value = this.#incoming.headers[name]
    return typeof value === 'object' ? value.join(', ') : value
  }

  headers(): IncomingMessage['headers'] {
    return this.#incoming.headers
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (!hasBody(this.#incoming)) return null
    this.#body ??= bytesOf(this.#incoming)
    return this.#body
  }

  get signal(): AbortSignal {
    this.#leaving ??= untilGone(this.#outgoing)
    return this.#leaving.signal
  }
}

/** Of an address that is more than a plain path; as browsers read it. */
function parsedPath(path: string, host: string): string {
  const whole = path.startsWith('/') ? `http://${host}${path}` : path
  const url = path.includes('\\') || path.includes('#') ? null : URL.parse(whole)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new VitrineError('body_invalid', 'The address of the request is not one.')
  return url.pathname
}

function hasBody({ method, headers }: IncomingMessage): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Pulled: what is not read stays with whoever sends it. */
function bytesOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  // Who has seen enough still wants to answer on this connection.
  const parts = incoming.iterator({ destroyOnReturn: false })
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await parts.next()
        if (done) return controller.close()
        controller.enqueue(value)
      },
      async cancel() {
        await parts.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

function untilGone(outgoing: ServerResponse): AbortController {
  const leaving = new AbortController()
  const leave = () => {
    if (!outgoing.writableFinished) leaving.abort()
  }
  if (outgoing.destroyed) leave()
  else outgoing.once('close', leave)
  return leaving
}
