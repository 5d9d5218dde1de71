import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Refusal } from './admission.ts'

/** The bytes of all bodies that are held at once. */
export interface Holding {
  bytes: number
}

export interface BodyLimits {
  readonly bodyBytes: number
  readonly heldBytes: number
}

/** A body, and how to say that it is no longer held. */
export type Body =
  | { readonly ok: true; readonly text: string; release(): void }
  | { readonly ok: false; readonly refusal: Refusal }

/** Rejects when the sender goes away, or with the signal's reason. */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { bodyBytes, heldBytes }: BodyLimits,
  holding: Holding,
  signal: AbortSignal,
): Promise<Body> {
  const tooLarge = { status: 413, message: `Expected at most ${bodyBytes} bytes.` }
  if (Number(request.headers['content-length'] ?? 0) > bodyBytes) return { ok: false, refusal: tooLarge }
  if (request.headers.expect !== undefined) response.writeContinue()
  const chunks: Buffer[] = []
  let size = 0
  const release = () => {
    holding.bytes -= size
    size = 0
  }
  return await new Promise((resolve, reject) => {
    const finish = () => {
      request.off('data', onData).off('end', onEnd).off('close', onClose)
      signal.removeEventListener('abort', onAbort)
    }
    const refuse = (refusal: Refusal) => {
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
      holding.bytes += chunk.length
      if (size > bodyBytes) return refuse(tooLarge)
      if (holding.bytes > heldBytes)
        return refuse({ status: 503, message: 'Too much is under way: try again later.' })
      chunks.push(chunk)
    }
    const onEnd = () => {
      finish()
      resolve({ ok: true, text: Buffer.concat(chunks).toString('utf8'), release })
    }
    const onClose = () => fail(new Error('The sender went away.'))
    const onAbort = () => fail(signal.reason)
    if (signal.aborted) return fail(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    request.on('data', onData).on('end', onEnd).on('close', onClose)
  })
}
