import { settledWithin } from '@vitrine/protocol/primitives'
import { securityHeaders } from '../guard/headers.ts'
import { closingParts, discard, isInParts, partsOf } from '../http/body.ts'
import { HttpResponse } from '../http/http-response.ts'

/**
 * Clients and proxies give up on a response whose headers do not arrive for minutes. A caller that sends
 * `vitrine-keepalive: true` gets the headers after `everyMs`, then a space every `everyMs`, and in the end the JSON of
 * the response: the result, or a problem, which the caller recognizes by its `type`.
 */
export async function withKeepAlive(
  pending: Promise<HttpResponse>,
  everyMs: number,
  stallMs?: number,
): Promise<HttpResponse> {
  if (await settledWithin(pending, everyMs, { ref: true })) return pending
  const headers = { ...securityHeaders, 'content-type': 'application/json' }
  // A response that arrives after the caller has left is not sent.
  const close = () => void pending.then(({ body }) => discard(body)).catch(() => undefined)
  return new HttpResponse(200, headers, closingParts(spacesUntil(pending, everyMs), close), stallMs)
}

async function* spacesUntil(
  pending: Promise<HttpResponse>,
  everyMs: number,
): AsyncGenerator<Uint8Array, undefined> {
  do {
    yield Buffer.from(' ')
  } while (!(await settledWithin(pending, everyMs, { ref: true })))
  const { body, headers } = await pending
  if (typeof body === 'string') yield* partsOf(Buffer.from(body))
  else if (isInParts(body) && headers['content-type'] === 'application/json') yield* body
  else {
    discard(body)
    throw new Error('Keep-alive spaces were sent, but the response is not JSON.')
  }
  return undefined
}
