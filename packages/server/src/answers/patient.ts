import { Answer } from '../exchange/answer.ts'
import { securityHeaders } from '../guard/headers.ts'

const encoder = new TextEncoder()

/**
 * Clients and proxies give up on an answer whose headers do not come for minutes. A caller that sends
 * `vitrine-patient: true` gets them after a while, then spaces, and in the end the JSON that it would have got: an
 * answer, or a problem, which it knows by its `type`.
 */
export async function patiently(coming: Promise<Answer>, everyMs: number): Promise<Answer> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, everyMs, undefined)
  try {
    const early = await Promise.race([coming, late])
    if (early !== undefined) return early
  } finally {
    clearTimeout(timer)
  }
  let beating: NodeJS.Timeout | undefined
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const beat = () => controller.enqueue(encoder.encode(' '))
      beat()
      beating = setInterval(beat, everyMs)
      try {
        // Who may be patient answers with JSON, whole.
        const { body } = await coming
        if (typeof body === 'string') controller.enqueue(encoder.encode(body))
        controller.close()
      } catch (error) {
        controller.error(error)
      } finally {
        clearInterval(beating)
      }
    },
    cancel() {
      clearInterval(beating)
    },
  })
  return new Answer(200, { ...securityHeaders, 'content-type': 'application/json' }, body)
}
