import { Answer } from '../exchange/answer.ts'
import { closingParts } from '../exchange/body.ts'
import { securityHeaders } from '../guard/headers.ts'
import { within } from '../routing/within.ts'

/**
 * Clients and proxies give up on an answer whose headers do not come for minutes. A caller that sends
 * `vitrine-patient: true` gets them after a while, then spaces, and in the end the JSON that it would have got: an
 * answer, or a problem, which it knows by its `type`.
 */
export async function patiently(coming: Promise<Answer>, everyMs: number): Promise<Answer> {
  const early = await within(coming, everyMs)
  if (early !== undefined) return early
  const headers = { ...securityHeaders, 'content-type': 'application/json' }
  return new Answer(
    200,
    headers,
    closingParts(spacesUntil(coming, everyMs), () => undefined),
  )
}

async function* spacesUntil(coming: Promise<Answer>, everyMs: number): AsyncGenerator<Uint8Array, undefined> {
  let answer: Answer | undefined
  do {
    yield Buffer.from(' ')
    answer = await within(coming, everyMs)
  } while (answer === undefined)
  // Who may be patient answers with JSON, whole.
  if (typeof answer.body === 'string') yield Buffer.from(answer.body)
  return undefined
}
