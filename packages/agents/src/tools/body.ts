import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpRefusal } from './admission.ts'

/** Bytes of all request bodies in memory. */
export interface BodyMemory {
  bytes: number
}

export interface BodyLimits {
  readonly bodyBytes: number
  readonly heldBytes: number
}

/** A body, and a function that releases its memory. */
export type ReadBody =
  | { readonly ok: true; readonly text: string; release(): void }
  | { readonly ok: false; readonly refusal: HttpRefusal }

/** Reads a request body within the limits. Rejects when the client disconnects, or with the signal's reason. */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { bodyBytes, heldBytes }: BodyLimits,
  memory: BodyMemory,
  signal: AbortSignal,
): Promise<ReadBody> {
  const tooLarge = { status: 413, message: `Expected at most ${bodyBytes} bytes.` }
  if (Number(request.headers['content-length'] ?? 0) > bodyBytes) return { ok: false, refusal: tooLarge }
  if (request.headers.expect !== undefined) response.writeContinue()
  const chunks: Buffer[] = []
  let size = 0
  const release = () => {
    memory.bytes -= size
    size = 0
  }
  return await new Promise((resolve, reject) => {
    const finish = () => {
      request.off('data', onData).off('end', onEnd).off('close', onClose)
      signal.removeEventListener('abort', onAbort)
    }
    const refuse = (refusal: HttpRefusal) => {
      finish()
      release()
      resolve({ ok: false, refusal })
    }
    const fail = (error: unknown) => {
      finish()
      release()
      reject(error)
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      memory.bytes += chunk.length
      if (size > bodyBytes) return refuse(tooLarge)
      if (memory.bytes > heldBytes)
        return refuse({
          status: 503,
          message: 'Too many bytes of requests are being processed: try again later.',
        })
      chunks.push(chunk)
    }
    const onEnd = () => {
      finish()
      resolve({ ok: true, text: Buffer.concat(chunks).toString('utf8'), release })
    }
    const onClose = () => fail(new Error('The client disconnected.'))
    const onAbort = () => fail(signal.reason)
    if (signal.aborted) return fail(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    request.on('data', onData).on('end', onEnd).on('close', onClose)
  })
}
