import type { ServerResponse } from 'node:http'
import { discard, isInParts, limitStalls } from './body.ts'
import type { HttpResponse } from './http-response.ts'

/** Answers on a server of Node. A reader that takes nothing for the answer's `stallMs`, or `idleMs`, is cut off. */
export async function send(
  { status, headers, body, stallMs }: HttpResponse,
  outgoing: ServerResponse,
  idleMs: number,
): Promise<void> {
  if (body === null) {
    outgoing.writeHead(status, plain(headers)).end()
  } else if (isInParts(body)) {
    outgoing.writeHead(status, plain(headers))
    outgoing.flushHeaders()
    await pump(body, outgoing, stallMs ?? idleMs)
  } else {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
    outgoing.writeHead(status, { ...plain(headers), 'content-length': length }).end(body)
  }
}

/** Part by part, as fast as the other end reads. A body that breaks takes its connection with it: it must not look whole. */
async function pump(
  body: AsyncIterable<Uint8Array>,
  outgoing: ServerResponse,
  stallMs: number,
): Promise<void> {
  // A response that was closed before emits no event any more.
  if (outgoing.destroyed) return discard(body)
  const parts = limitStalls(body, stallMs, () => outgoing.destroy())
  const close = () => discard(parts)
  outgoing.once('close', close)
  try {
    for await (const part of parts) await written(outgoing, part)
    outgoing.end()
  } catch {
    outgoing.destroy()
  } finally {
    outgoing.off('close', close)
  }
}

/** Once the system has the part, or the connection is closed. */
function written(outgoing: ServerResponse, part: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('close', done)
      resolve()
    }
    outgoing.on('close', done)
    outgoing.write(part, done)
  })
}

/** Node writes into what it is given. */
function plain(headers: HttpResponse['headers']): Record<string, string | string[]> {
  return headers as Record<string, string | string[]>
}
