import { type ByteRange, isVitrineError } from '@vitrine/protocol'
import { checkedByteRange } from '@vitrine/protocol/primitives'
import { connectionFailed } from './failures.ts'
import type { HttpClient } from './http-client.ts'
import { checkKeys } from './options.ts'
import { type RequestOptions, type RequestResult, request } from './request.ts'
import { responseBody } from './response-body.ts'

export type { ByteRange } from '@vitrine/protocol'

/** Reads bytes or a range of them. An empty range is allowed here, although HTTP has none. */
export async function readRange(
  http: HttpClient,
  options: RequestOptions,
  range: ByteRange,
): Promise<ReadableStream<Uint8Array>> {
  checkKeys('range', range, { from: true, to: true })
  const { from, to } = checkedByteRange(range)
  const accept = { ...options.headers, accept: '*/*' }
  if (from === 0 && to === undefined)
    return responseBody(await request(http, { ...options, headers: accept }))
  const isEmpty = to === from
  // For an empty range one byte is requested, to learn whether the range is within the file.
  const last = to === undefined ? '' : isEmpty ? from : to - 1
  let result: RequestResult
  try {
    result = await request(http, { ...options, headers: { ...accept, range: `bytes=${from}-${last}` } })
  } catch (error) {
    if (sizeIn(error) === from) return new Blob([]).stream()
    throw error
  }
  const { response, endpoint, cancellation } = result
  const isPart = response.status === 206 || response.headers.get('content-length') === '0'
  if (isPart && !isEmpty) return responseBody(result)
  cancellation.end('reader-stopped')
  if (isPart) return new Blob([]).stream()
  throw connectionFailed(
    `${endpoint}: expected a range of bytes, got the whole file.`,
    undefined,
    response.status,
  )
}

/** The size that a `range_invalid` error reports. */
function sizeIn(error: unknown): unknown {
  return isVitrineError(error) && error.code === 'range_invalid' ? error.details.size : undefined
}
