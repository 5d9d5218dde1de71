import type { ServerResponse } from 'node:http'
import { type BodyInParts, discard, isInParts, largeBytes, limitStalls, partsOf } from './body.ts'
import type { HttpResponse } from './http-response.ts'
import { TurnBudget } from './turn-budget.ts'

/** Shared by all bodies of the process. */
const sharedTurn = new TurnBudget(1)

/** Sends a response. A reader that stalls for the response's `stallMs`, or else `idleMs`, is disconnected. */
export async function send(
  { status, headers, body, stallMs }: HttpResponse,
  outgoing: ServerResponse,
  idleMs: number,
  turn = sharedTurn,
): Promise<void> {
  if (body === null) {
    outgoing.writeHead(status, plain(headers)).end()
  } else if (isInParts(body)) {
    outgoing.writeHead(status, plain(headers))
    outgoing.flushHeaders()
    await pump(body, outgoing, stallMs ?? idleMs, turn)
  } else {
    const large = largeBytes(body)
    outgoing.writeHead(status, { ...plain(headers), 'content-length': Buffer.byteLength(large ?? body) })
    if (large === undefined) sendAtOnce(body, outgoing, stallMs ?? idleMs)
    else await pump(partsOf(large), outgoing, stallMs ?? idleMs, turn)
  }
}

/** Sends a small body at once. It waits if the reader has not read the responses to earlier requests. */
function sendAtOnce(body: string | Uint8Array, outgoing: ServerResponse, stallMs: number): void {
  outgoing.end(body)
  if (outgoing.writableLength === 0) return
  const timer = setTimeout(() => outgoing.destroy(), stallMs)
  outgoing.once('close', () => clearTimeout(timer))
}

/** Sends a body as fast as the client reads. If the body fails, the connection is destroyed, so it cannot look complete. */
async function pump(
  body: BodyInParts,
  outgoing: ServerResponse,
  stallMs: number,
  turn: TurnBudget,
): Promise<void> {
  // A closed response emits no further `close` event.
  if (outgoing.destroyed) return discard(body)
  // Inside, so that the time until a part is due is not taken for a stall of its reader.
  const parts = limitStalls(inTurns(body, turn), stallMs, () => outgoing.destroy())
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

/**
 * The same parts, each of which is read when it is due. A live reader does not wait: its events are dropped from memory
 * soon, and then it would have to read the store.
 */
function inTurns(body: BodyInParts, turn: TurnBudget): AsyncIterableIterator<Uint8Array> {
  const parts = body[Symbol.asyncIterator]()
  return {
    async next() {
      const due = body.isLive?.() ? undefined : turn.next()
      if (due !== undefined) await due
      return parts.next()
    },
    async return() {
      await parts.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Resolves when the part was written to the socket, or when the connection is closed. */
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

/** Node's type wants mutable headers; it does not change them. */
function plain(headers: HttpResponse['headers']): Record<string, string | string[]> {
  return headers as Record<string, string | string[]>
}
