import { connectionFailed } from './failures.ts'
import type { HttpClient } from './http-client.ts'
import { type RequestOptions, type RequestResult, request } from './request.ts'

/** Asks for bytes, as they come. */
export async function askBytes(http: HttpClient, asked: RequestOptions): Promise<ReadableStream<Uint8Array>> {
  const headers = { accept: '*/*', ...asked.headers }
  return incoming(await request(http, { ...asked, headers }))
}

/** The body of an answer: pulled, and never complete when it is not. */
export function incoming({
  response,
  cancellation: callOff,
  where,
}: RequestResult): ReadableStream<Uint8Array> {
  callOff.beginStream()
  const reader = response.body?.getReader()
  const expected = lengthOf(response.headers)
  let got = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const part = await reader?.read()
          if (callOff.callingOff !== undefined) {
            // Of what was called off, nothing that is still on its way counts.
            await callOff.callingOff
            throw callOff.error()
          }
          if (part?.done === false) {
            got += part.value.byteLength
            return controller.enqueue(part.value)
          }
        } catch (error) {
          callOff.release()
          throw callOff.error(error)
        }
        callOff.release()
        if (expected !== undefined && got !== expected)
          throw connectionFailed(`${where}: expected ${expected} bytes, got ${got}.`)
        controller.close()
      },
      cancel() {
        callOff.end('left')
        return reader?.cancel().catch(() => undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Of what was compressed on its way, the length is another one. */
function lengthOf(headers: Headers): number | undefined {
  const text = headers.get('content-length')
  return text === null || headers.has('content-encoding') ? undefined : Number(text)
}
