import { wholeNumber } from '../whole-number.ts'
import { encodeLine } from './line.ts'
import { type PostTarget, postBatches } from './post.ts'
import type { Sink } from './sink.ts'

export interface HttpSinkOptions extends PostTarget {
  /** How many events one batch may hold: 500 without it. */
  readonly batchEvents?: number
  /** A larger batch becomes several requests, with the keys `<key>.1`, `<key>.2` …: 8 MiB without it. */
  readonly maxBodyBytes?: number
}

/**
 * Posts events as `application/x-ndjson`. `Idempotency-Key` is the same for every try of a batch. Any answer
 * but 2xx is a failure; `Retry-After` is on the error as `details.retryAfterMs`.
 *
 * @example
 * await store.addSink('siem', httpSink({ url: 'https://siem.example/ingest', headers: { authorization } }))
 */
export function httpSink(options: HttpSinkOptions): Sink {
  const bounds = { min: 1, max: Number.MAX_SAFE_INTEGER }
  const batchEvents = wholeNumber('httpSink.batchEvents', options.batchEvents, { ...bounds, fallback: 500 })
  const maxBodyBytes = wholeNumber('httpSink.maxBodyBytes', options.maxBodyBytes, {
    ...bounds,
    fallback: 8 * 1024 * 1024,
  })
  return {
    kind: 'http',
    batchEvents,
    write: postBatches('httpSink', options, {
      contentType: 'application/x-ndjson',
      maxBodyBytes,
      encode: encodeLine,
      join: (lines) => lines.join(''),
    }),
  }
}
