import { securityHeaders } from '../guard/headers.ts'
import { closingParts, discard } from '../http/body.ts'
import { HttpResponse } from '../http/http-response.ts'
import { resolvedWithin } from '../routing/resolved-within.ts'

/**
 * Clients and proxies give up on an answer whose headers do not come for minutes. A caller that sends
 * `vitrine-keepalive: true` gets them after a while, then spaces, and in the end the JSON that it would have got: an
 * answer, or a problem, which it knows by its `type`.
 */
export async function withKeepAlive(coming: Promise<HttpResponse>, everyMs: number): Promise<HttpResponse> {
  const early = await resolvedWithin(coming, everyMs)
  if (early !== undefined) return early
  const headers = { ...securityHeaders, 'content-type': 'application/json' }
  return new HttpResponse(
    200,
    headers,
    closingParts(spacesUntil(coming, everyMs), () => undefined),
  )
}

async function* spacesUntil(
  coming: Promise<HttpResponse>,
  everyMs: number,
): AsyncGenerator<Uint8Array, undefined> {
  let answer: HttpResponse | undefined
  do {
    yield Buffer.from(' ')
    answer = await resolvedWithin(coming, everyMs)
  } while (answer === undefined)
  if (typeof answer.body !== 'string') {
    discard(answer.body)
    throw new Error('A response that is not JSON cannot follow the spaces of one that is.')
  }
  yield Buffer.from(answer.body)
  return undefined
}
