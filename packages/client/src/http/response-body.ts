import { connectionFailed } from './failures.ts'
import type { HttpClient } from './http-client.ts'
import { type RequestOptions, type RequestResult, request } from './request.ts'

/** Requests bytes and returns them as a stream. */
export async function requestBytes(
  http: HttpClient,
  options: RequestOptions,
): Promise<ReadableStream<Uint8Array>> {
  const headers = { accept: '*/*', ...options.headers }
  return responseBody(await request(http, { ...options, headers }))
}

/** The body of a response, read on demand. It fails if it is shorter than its content-length. */
export function responseBody({
  response,
  cancellation,
  endpoint,
}: RequestResult): ReadableStream<Uint8Array> {
  cancellation.stopTimeLimit()
  const reader = response.body?.getReader()
  const expected = lengthOf(response.headers)
  let received = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const part = await reader?.read()
          if (cancellation.serverCancel !== undefined) {
            // The caller cancelled: wait until the server knows, and drop the bytes that still arrive.
            await cancellation.serverCancel
            throw cancellation.error()
          }
          if (part?.done === false) {
            received += part.value.byteLength
            return controller.enqueue(part.value)
          }
        } catch (error) {
          cancellation.detach()
          throw cancellation.error(error)
        }
        cancellation.detach()
        if (expected !== undefined && received !== expected)
          throw connectionFailed(`${endpoint}: expected ${expected} bytes, got ${received}.`)
        controller.close()
      },
      cancel() {
        cancellation.end('reader-stopped')
        return reader?.cancel().catch(() => undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

/** The expected length; unknown for a compressed body, whose content-length is that of the compressed bytes. */
function lengthOf(headers: Headers): number | undefined {
  const text = headers.get('content-length')
  return text === null || headers.has('content-encoding') ? undefined : Number(text)
}
