import type { IncomingMessage, ServerResponse } from 'node:http'
import { VitrineError } from '@vitrine/protocol'
import { hostName } from '../guard/hosts.ts'
import type { Asked } from './asked.ts'

/** A request to a server of Node. */
export function fromIncoming(incoming: IncomingMessage, outgoing: ServerResponse): Asked {
  const { headers, method = 'GET' } = incoming
  let leaving: AbortController | undefined
  return {
    method,
    url: addressOf(incoming),
    header(name) {
      const value = headers[name]
      return typeof value === 'object' ? value.join(', ') : value
    },
    headers: () => headers,
    body: hasBody(incoming) ? bytesOf(incoming) : null,
    get signal() {
      leaving ??= untilGone(outgoing)
      return leaving.signal
    },
  }
}

function addressOf({ url = '/', headers: { host } }: IncomingMessage): URL {
  if (hostName(host) === undefined)
    throw new VitrineError('host_refused', 'The Host header is missing, or is not the name of a host.')
  const [path = ''] = url.split('?', 1)
  const whole = url.startsWith('/') ? `http://${host}${url}` : url
  if (path.includes('\\') || !/^https?:\/\//i.test(whole) || !URL.canParse(whole))
    throw new VitrineError('body_invalid', 'The address of the request is not one.')
  return new URL(whole)
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

function untilGone(outgoing: ServerResponse): AbortController {
  const leaving = new AbortController()
  const leave = () => {
    if (!outgoing.writableFinished) leaving.abort()
  }
  if (outgoing.destroyed) leave()
  else outgoing.once('close', leave)
  return leaving
}
