import { VitrineError } from '@vitrine/protocol'
import { shown } from '@vitrine/protocol/primitives'
import { securityHeaders } from '../guard/headers.ts'
import { HttpResponse } from '../http/http-response.ts'
import { streamParts } from '../http/stream-parts.ts'

export interface Range {
  readonly start: number
  /** The byte to stop before. */
  readonly end: number
}

/** The range of a `Range` header; undefined if there is none, or one that HTTP allows to ignore. */
export function readRange(header: string | undefined, size: number): Range | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '')
  if (match === null) return undefined
  const [, first = '', last = ''] = match
  if (first === '' && last === '') return undefined
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  if (start >= size || end <= start)
    throw new VitrineError(
      'range_invalid',
      `Range: expected a range within ${size} bytes, got ${shown(header)}.`,
      {
        details: { size },
      },
    )
  return { start, end }
}

/** A response with bytes of a known size, or with a range of them. */
export function bytesResponse(
  body: ReadableStream<Uint8Array>,
  size: number,
  range: Range | undefined,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const { start, end } = range ?? { start: 0, end: size }
  return new HttpResponse(
    range === undefined ? 200 : 206,
    {
      ...securityHeaders,
      'content-type': 'application/octet-stream',
      'accept-ranges': 'bytes',
      'content-length': String(end - start),
      ...(range && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
      ...headers,
    },
    streamParts(body),
  )
}

/** A response with bytes of unknown size. */
export function streamResponse(body: ReadableStream<Uint8Array>, type: string): HttpResponse {
  return new HttpResponse(200, { ...securityHeaders, 'content-type': type }, streamParts(body))
}
