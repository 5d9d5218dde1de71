import type { ServerResponse } from 'node:http'
import type { Answer } from './answer.ts'
import { tidyAfter } from './tidy.ts'

/** Answers on a server of Node. Who takes nothing of it for `idleMs` is let go. */
export async function send(
  { status, headers, body }: Answer,
  outgoing: ServerResponse,
  idleMs: number,
): Promise<void> {
  if (body === null) {
    outgoing.writeHead(status, plain(headers)).end()
  } else if (typeof body === 'string' || body instanceof Uint8Array) {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
    outgoing.writeHead(status, { ...plain(headers), 'content-length': length }).end(body)
  } else {
    outgoing.writeHead(status, plain(headers))
    outgoing.flushHeaders()
    await pump(body, outgoing, idleMs)
  }
}

/** As it is read at the other end. One that breaks takes its connection with it: it must not look as if it were whole. */
async function pump(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  idleMs: number,
): Promise<void> {
  // Who left before there was an answer is not told of by an event any more.
  if (outgoing.destroyed) return void body.cancel().catch(() => undefined)
  const reader = body.getReader()
  const leave = () => void reader.cancel().catch(() => undefined)
  outgoing.once('close', leave)
  reader.closed.catch(() => outgoing.destroy())
  try {
    // The next part is read while this one is on its way.
    for (let next = reader.read(); ; ) {
      const { done, value } = await next
      if (done) break
      next = reader.read()
      next.catch(() => undefined)
      if (!outgoing.write(value)) await writable(outgoing, idleMs)
      tidyAfter(value.byteLength)
    }
    outgoing.end()
  } catch {
    outgoing.destroy()
  } finally {
    outgoing.off('close', leave)
  }
}

/** Once there is room again, or nobody is there any more. */
function writable(outgoing: ServerResponse, idleMs: number): Promise<void> {
  if (outgoing.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(() => outgoing.destroy(), idleMs)
    const done = () => {
      clearTimeout(timer)
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.on('drain', done)
    outgoing.on('close', done)
  })
}

/** Node writes into what it is given. */
function plain(headers: Answer['headers']): Record<string, string | string[]> {
  return headers as Record<string, string | string[]>
}
