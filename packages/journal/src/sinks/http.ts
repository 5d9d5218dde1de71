import { checkOptions, sinkOptions } from '@vitrine/protocol/options'
import { encodeLine } from './line.ts'
import { type PostTarget, postBatches } from './post.ts'
import type { Sink } from './sink.ts'

export interface HttpSinkOptions extends PostTarget {
  /** The most events in one batch; default 500. */
  readonly batchEvents?: number
  /** A larger batch becomes several requests with the keys `<key>.1`, `<key>.2` …; default 8 MiB. */
  readonly maxBodyBytes?: number
}

/**
 * Posts events as `application/x-ndjson`. `Idempotency-Key` is the same for every attempt of a batch. Any response
 * but 2xx is a failure; the error has `Retry-After` as `details.retryAfterMs`.
 *
 * @example
 * await store.addSink('siem', httpSink({ url: 'https://siem.example/ingest', headers: { authorization } }))
 */
export function httpSink(options: HttpSinkOptions): Sink {
  checkOptions('httpSink', sinkOptions.http, options ?? {})
  const { batchEvents = 500, maxBodyBytes = 8 * 1024 * 1024 } = options
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
