import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { endToEnd, tokens } from './headers.ts'
import type { PlainRequest } from './plain-request.ts'
import { answer, sendAnswer } from './proxy-response.ts'
import { shortReason } from './resolve.ts'
import { showTarget } from './target.ts'

/** Sends one request over a connection of its own, written anew from what was understood of it. */
export function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  plain: PlainRequest,
  upstream: Socket,
): void {
  const fail = (why: string) => {
    upstream.destroy()
    // What has begun to flow is ended by how it ends.
    if (response.headersSent) return
    sendAnswer(response, answer(502, showTarget(plain.target), why))
  }
  const outgoing = httpRequest({
    createConnection: () => upstream,
    method: incoming.method ?? 'GET',
    path: plain.path,
    headers: Object.fromEntries(plain.headers),
    setHost: false,
  })
  outgoing.on('error', (error) => fail(`it broke off: ${error.message}`))
  outgoing.on('response', (reply) => passOn(reply, response, fail))
  outgoing.on('close', () => {
    fail('it closed without an answer')
    // The rest of a body that nobody wants any more, so that the next request can be found.
    incoming.unpipe(outgoing)
    incoming.resume()
  })
  if (plain.body === 'none') return void outgoing.end()
  if (incoming.headers.expect !== undefined && incoming.httpVersion === '1.1') response.writeContinue()
  incoming.pipe(outgoing)
}

function passOn(reply: IncomingMessage, response: ServerResponse, fail: (why: string) => void): void {
  const { headersDistinct, statusCode = 502, statusMessage } = reply
  const encodings = tokens(headersDistinct['transfer-encoding'])
  try {
    if (encodings.length > 0 && encodings.join() !== 'chunked') throw new Error('unknown Transfer-Encoding')
    response.sendDate = false
    response.writeHead(statusCode, statusMessage, Object.fromEntries(endToEnd(headersDistinct)))
    pipeline(reply, response, () => undefined)
  } catch (error) {
    fail(`its answer cannot be passed on: ${shortReason(error)}`)
  }
}
