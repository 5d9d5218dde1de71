import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { endToEndHeaders, tokens } from './headers.ts'
import type { PlainRequest } from './proxy-request.ts'
import { proxyResponse, sendResponse } from './proxy-response.ts'
import { shortReason } from './resolve.ts'
import { showTarget } from './target.ts'

/** Sends a request over its own connection, serialised again from the parsed parts instead of copied byte by byte. */
export function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  plain: PlainRequest,
  upstream: Socket,
): void {
  const fail = (why: string) => {
    upstream.destroy()
    // A response that has started cannot be replaced: destroying the upstream socket ends it.
    if (response.headersSent) return
    sendResponse(response, proxyResponse(502, showTarget(plain.target), why))
  }
  const outgoing = httpRequest({
    createConnection: () => upstream,
    method: incoming.method ?? 'GET',
    path: plain.path,
    headers: Object.fromEntries(plain.headers),
    setHost: false,
  })
  outgoing.on('error', (error) => fail(`the connection failed: ${error.message}`))
  outgoing.on('response', (reply) => relayResponse(reply, response, fail))
  outgoing.on('close', () => {
    fail('it closed the connection without a response')
    // Discard the rest of the request body, so that the parser reaches the next request.
    incoming.unpipe(outgoing)
    incoming.resume()
  })
  if (plain.body === 'none') return void outgoing.end()
  if (incoming.headers.expect !== undefined && incoming.httpVersion === '1.1') response.writeContinue()
  incoming.pipe(outgoing)
}

function relayResponse(reply: IncomingMessage, response: ServerResponse, fail: (why: string) => void): void {
  const { headersDistinct, statusCode = 502, statusMessage } = reply
  const encodings = tokens(headersDistinct['transfer-encoding'])
  try {
    if (encodings.length > 0 && encodings.join() !== 'chunked') throw new Error('unknown Transfer-Encoding')
    response.sendDate = false
    response.writeHead(statusCode, statusMessage, Object.fromEntries(endToEndHeaders(headersDistinct)))
    pipeline(reply, response, () => undefined)
  } catch (error) {
    fail(`its response cannot be forwarded: ${shortReason(error)}`)
  }
}
