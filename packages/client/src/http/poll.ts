import { Backoff } from './backoff.ts'
import { isTransportFailure } from './failures.ts'
import type { HttpClient } from './http-client.ts'

/** A server that does not wait itself is not asked more often than this. */
const minIntervalMs = 200

/** Asks until the answer is final. What is waited for goes on at the server, so a connection that fails is no end. */
export async function poll<Result>(
  http: HttpClient,
  request: () => Promise<Result>,
  isFinal: (result: Result) => boolean,
): Promise<Result> {
  const backoff = new Backoff()
  for (;;) {
    const began = performance.now()
    try {
      const result = await request()
      if (isFinal(result)) return result
      backoff.reset()
      if (performance.now() - began < minIntervalMs) await http.timing.sleep(minIntervalMs, http.closing)
    } catch (error) {
      if (http.closing.aborted || !isTransportFailure(error)) throw error
      await http.timing.sleep(backoff.next(), http.closing)
    }
  }
}

/** Asks for something again that is the same however often it is asked for. */
export async function retryIdempotent<Result>(
  http: HttpClient,
  times: number,
  request: () => Promise<Result>,
): Promise<Result> {
  const backoff = new Backoff()
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await request()
    } catch (error) {
      if (attempt === times || http.closing.aborted || !isTransportFailure(error)) throw error
      await http.timing.sleep(backoff.next(), http.closing)
    }
  }
}
