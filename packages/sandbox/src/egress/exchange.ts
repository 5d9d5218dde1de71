import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { attempt, closed, type Reach } from './attempt.ts'
import { readConnectRequest } from './connect-request.ts'
import { forward } from './forward.ts'
import { askedIn, authorityOf } from './malformed.ts'
import { readPlainRequest } from './plain-request.ts'
import type { ProxyClient } from './proxy-client.ts'
import { answer, rawAnswer, sendAnswer } from './proxy-response.ts'
import { recordRefused } from './record.ts'
import { showTarget } from './target.ts'
import { join } from './tunnel.ts'

/** What node's parser says about bytes that are not HTTP. */
export interface MalformedError extends NodeJS.ErrnoException {
  readonly rawPacket?: Uint8Array
  readonly bytesParsed?: number
}

/** `CONNECT host:port`: from here on the connection is the target's. */
export async function exchangeTunnel(
  reach: Reach,
  { socket, process, gone }: ProxyClient,
  request: IncomingMessage,
): Promise<void> {
  const asked = { raw: request.url ?? '', target: readConnectRequest(request), process }
  const reached = await attempt(reach, asked, gone)
  if ('status' in reached) {
    socket.end(rawAnswer(reached))
    return void socket.resume()
  }
  socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
  join(socket, reached.upstream, reach.idleMs)
  await Promise.all([closed(socket), reached.over])
}

/** `GET http://host/path`: one request, judged by itself whatever came before it on the connection. */
export async function exchangePlain(
  reach: Reach,
  { process, gone }: ProxyClient,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const sent = once(response, 'close', { signal: gone }).catch(() => undefined)
  // Writing to somebody who is gone is an error of nobody.
  response.on('error', () => undefined)
  const plain = readPlainRequest(request)
  const raw = authorityOf(request.url ?? '')
  const target = 'target' in plain ? plain.target : plain
  const reached = await attempt(reach, { raw, target, process }, gone)
  if ('status' in reached || !('target' in plain)) {
    if ('status' in reached) sendAnswer(response, reached)
    await sent
    return
  }

  const { upstream, over } = reached
  const leave = () => upstream.destroy()
  if (gone.aborted) leave()
  gone.addEventListener('abort', leave)
  if (reach.idleMs !== undefined) upstream.setTimeout(reach.idleMs, leave)
  try {
    forward(request, response, plain, upstream)
  } catch {
    leave()
    sendAnswer(response, answer(400, showTarget(plain.target), 'the request cannot be passed on'))
  }
  await over
  gone.removeEventListener('abort', leave)
  await sent
}

export async function refuseMalformed(
  reach: Reach,
  guest: ProxyClient,
  error: MalformedError,
): Promise<void> {
  const { rawPacket = new Uint8Array(), bytesParsed = 0, code = 'unreadable' } = error
  const raw = askedIn(rawPacket, bytesParsed)
  const reason = `it is not valid HTTP: ${code}`
  await recordRefused(reach.record, { raw, target: { reason }, process: guest.process }, reason)
  guest.socket.end(rawAnswer(answer(code === 'HPE_HEADER_OVERFLOW' ? 431 : 400, raw, reason)))
}

/** Not even asked what it wants. */
export async function reject(reach: Reach, { socket, process }: ProxyClient, reason: string): Promise<void> {
  await recordRefused(reach.record, { raw: '', target: { reason }, process }, reason)
  socket.destroy()
}
