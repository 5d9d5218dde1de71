import { connectionBackoff } from './backoff.ts'
import { isTransportFailure } from './failures.ts'
import type { HttpClient } from './http-client.ts'

/** Minimum time between two requests to a server that does not long-poll. */
const minIntervalMs = 200

/** Polls until a result is final. The work continues at the server, so connection failures are retried. */
export async function poll<Result>(
  http: HttpClient,
  request: () => Promise<Result>,
  isFinal: (result: Result) => boolean,
): Promise<Result> {
  const backoff = connectionBackoff()
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

/** Retries an idempotent request up to `times` times after connection failures. */
export async function retryIdempotent<Result>(
  http: HttpClient,
  times: number,
  request: () => Promise<Result>,
): Promise<Result> {
  const backoff = connectionBackoff()
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await request()
    } catch (error) {
      if (attempt === times || http.closing.aborted || !isTransportFailure(error)) throw error
      await http.timing.sleep(backoff.next(), http.closing)
    }
  }
}
