import { Backoff } from './backoff.ts'
import { isTransportFailure } from './failures.ts'
import type { HttpClient } from './http-client.ts'

/** A server that does not wait itself is not asked more often than this. */
const leastMs = 200

/** Asks until the answer is final. What is waited for goes on at the server, so a connection that fails is no end. */
export async function poll<Answer>(
  http: HttpClient,
  question: () => Promise<Answer>,
  isFinal: (answer: Answer) => boolean,
): Promise<Answer> {
  const backoff = new Backoff()
  for (;;) {
    const began = performance.now()
    try {
      const answer = await question()
      if (isFinal(answer)) return answer
      backoff.reset()
      if (performance.now() - began < leastMs) await http.timing.sleep(leastMs, http.closing)
    } catch (error) {
      if (http.closing.aborted || !isTransportFailure(error)) throw error
      await http.timing.sleep(backoff.next(), http.closing)
    }
  }
}

/** Asks for something again that is the same however often it is asked for. */
export async function retryIdempotent<Answer>(
  http: HttpClient,
  times: number,
  request: () => Promise<Answer>,
): Promise<Answer> {
  const backoff = new Backoff()
  for (let again = 0; ; again += 1) {
    try {
      return await request()
    } catch (error) {
      if (again === times || http.closing.aborted || !isTransportFailure(error)) throw error
      await http.timing.sleep(backoff.next(), http.closing)
    }
  }
}
