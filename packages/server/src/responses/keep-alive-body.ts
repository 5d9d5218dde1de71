import { settledWithin } from '@vitrine/protocol/primitives'
import { securityHeaders } from '../guard/headers.ts'
import { closingParts, discard } from '../http/body.ts'
import { HttpResponse } from '../http/http-response.ts'

/**
 * Clients and proxies give up on a response whose headers do not arrive for minutes. A caller that sends
 * `vitrine-keepalive: true` gets the headers after `everyMs`, then a space every `everyMs`, and in the end the JSON of
 * the response: the result, or a problem, which the caller recognizes by its `type`.
 */
export async function withKeepAlive(pending: Promise<HttpResponse>, everyMs: number): Promise<HttpResponse> {
  if (await settledWithin(pending, everyMs, { ref: true })) return pending
  const headers = { ...securityHeaders, 'content-type': 'application/json' }
  return new HttpResponse(
    200,
    headers,
    closingParts(spacesUntil(pending, everyMs), () => undefined),
  )
}

async function* spacesUntil(
  pending: Promise<HttpResponse>,
  everyMs: number,
): AsyncGenerator<Uint8Array, undefined> {
  do {
    yield Buffer.from(' ')
  } while (!(await settledWithin(pending, everyMs, { ref: true })))
  const response = await pending
  if (typeof response.body !== 'string') {
    discard(response.body)
    throw new Error('Keep-alive spaces were sent, but the response is not JSON.')
  }
  yield Buffer.from(response.body)
  return undefined
}
