import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { forward } from './forward.ts'
import { closed, type EgressContext, openUpstream } from './open-upstream.ts'
import type { ProxyClient } from './proxy-client.ts'
import { readConnectRequest, readPlainRequest } from './proxy-request.ts'
import { proxyResponse, rawResponse, sendResponse } from './proxy-response.ts'
import { recordRefused } from './record.ts'
import { showTarget } from './target.ts'

/** The error that Node's HTTP parser emits for bytes that are not HTTP. */
export interface MalformedError extends NodeJS.ErrnoException {
  readonly rawPacket?: Uint8Array
  readonly bytesParsed?: number
}

/** Handles `CONNECT host:port`: the rest of the connection is piped to the target. */
export async function exchangeTunnel(
  context: EgressContext,
  { socket, process, disconnected }: ProxyClient,
  request: IncomingMessage,
): Promise<void> {
  const requested = { raw: request.url ?? '', target: readConnectRequest(request), process }
  const result = await openUpstream(context, requested, disconnected)
  if ('status' in result) {
    socket.end(rawResponse(result))
    return void socket.resume()
  }
  socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
  pipeBothWays(socket, result.upstream, context.idleMs)
  await Promise.all([closed(socket), result.ended])
}

/** Handles `GET http://host/path`. Each request is checked on its own, regardless of earlier ones on the connection. */
export async function exchangePlain(
  context: EgressContext,
  { process, disconnected }: ProxyClient,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const sent = once(response, 'close', { signal: disconnected }).catch(() => undefined)
  // A write after the client has disconnected is not an error.
  response.on('error', () => undefined)
  const plain = readPlainRequest(request)
  const raw = authorityOf(request.url ?? '')
  const target = 'target' in plain ? plain.target : plain
  const result = await openUpstream(context, { raw, target, process }, disconnected)
  if ('status' in result || !('target' in plain)) {
    if ('status' in result) sendResponse(response, result)
    await sent
    return
  }

  const { upstream, ended } = result
  const destroyUpstream = () => upstream.destroy()
  if (disconnected.aborted) destroyUpstream()
  disconnected.addEventListener('abort', destroyUpstream)
  if (context.idleMs !== undefined) upstream.setTimeout(context.idleMs, destroyUpstream)
  try {
    forward(request, response, plain, upstream)
  } catch {
    destroyUpstream()
    sendResponse(response, proxyResponse(400, showTarget(plain.target), 'the request cannot be forwarded'))
  }
  await ended
  disconnected.removeEventListener('abort', destroyUpstream)
  await sent
}

export async function refuseMalformed(
  context: EgressContext,
  client: ProxyClient,
  error: MalformedError,
): Promise<void> {
  const { rawPacket = new Uint8Array(), bytesParsed = 0, code = 'unreadable' } = error
  const raw = requestTargetIn(rawPacket, bytesParsed)
  const reason = `it is not valid HTTP: ${code}`
  await recordRefused(context.record, { raw, target: { reason }, process: client.process }, reason)
  client.socket.end(rawResponse(proxyResponse(code === 'HPE_HEADER_OVERFLOW' ? 431 : 400, raw, reason)))
}

/** Closes a connection without reading a request from it. */
export async function reject(
  context: EgressContext,
  { socket, process }: ProxyClient,
  reason: string,
): Promise<void> {
  await recordRefused(context.record, { raw: '', target: { reason }, process }, reason)
  socket.destroy()
}

/** Pipes two sockets into each other until both are closed, with half-close and backpressure in both directions. */
function pipeBothWays(client: Socket, upstream: Socket, idleMs: number | undefined): void {
  if (client.destroyed) return void upstream.destroy()
  closeWith(client, upstream)
  closeWith(upstream, client)
  client.setTimeout(0)
  // Every byte in either direction passes the upstream socket, so its timeout covers the whole tunnel.
  if (idleMs !== undefined) upstream.setTimeout(idleMs, () => upstream.destroy())
  client.pipe(upstream)
  upstream.pipe(client)
}

/** Closes the second socket after the first: flushes it if the first ended properly, destroys it otherwise. */
function closeWith(first: Socket, second: Socket): void {
  first.once('close', () => {
    if (first.readableEnded) second.destroySoon()
    else second.destroy()
  })
}

/** Extracts the requested target from malformed HTTP: from the last request line before the parser's error. */
export function requestTargetIn(packet: Uint8Array, bytesParsed: number): string {
  const text = Buffer.from(packet).toString('latin1')
  const lineEnd = text.indexOf('\n', bytesParsed)
  const lines = text.slice(0, lineEnd === -1 ? undefined : lineEnd).split('\n')
  const target = lines.flatMap((line) => /^[A-Z-]{3,20} +([^\r]*)/.exec(line)?.[1] ?? []).at(-1)
  if (target === undefined) return ''
  return Buffer.from(authorityOf(target.replace(/ HTTP\/[0-9.]*$/, '')), 'latin1').toString('utf8')
}

/** Removes the path from a request's target, since paths are not recorded. */
function authorityOf(url: string): string {
  return url.replace(/^(?:[a-z]+:\/\/)?([^/?]*).*$/is, '$1')
}
