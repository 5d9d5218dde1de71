import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type PortAddress, VitrineError } from '@vitrine/protocol'
import type { Daemon } from '../daemon.ts'
import { forwarded, returned } from './headers.ts'
import type { Found } from './previews.ts'

/** Hands a request on to the port of its preview, and to no other. */
export async function proxy(
  daemon: Daemon,
  { preview, path, by }: Found,
  request: Request,
): Promise<Response> {
  const address = await addressOf(daemon, preview)
  const { search } = new URL(request.url)
  const isOurs = (token: string | undefined) => daemon.tokens.knows(token)
  const headers = forwarded(Object.fromEntries(request.headers), `localhost:${preview.port}`, isOurs)
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = httpRequest(
      {
        host: address.host,
        port: address.port,
        method: request.method,
        path: path + search,
        headers,
        signal: AbortSignal.any([request.signal, daemon.closing]),
      },
      resolve,
    )
    outgoing.on('error', (error) => reject(unavailable(preview.port, error)))
    if (request.body === null) outgoing.end()
    else pipeline(Readable.fromWeb(request.body), outgoing).catch((error) => outgoing.destroy(error))
  })
  const status = answer.statusCode ?? 502
  const isEmpty = request.method === 'HEAD' || status === 204 || status === 304
  if (isEmpty) answer.resume()
  // Node's streams and the web's are the same to each other, but not to the compiler.
  const body = isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>)
  return new Response(body, { status, headers: returned(answer.headers, by) })
}

/** The same for a WebSocket: bytes both ways, as they come. */
export async function proxyUpgrade(
  daemon: Daemon,
  { preview, path }: Found,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  const { host, port } = await addressOf(daemon, preview)
  const search = /\?.*$/.exec(request.url ?? '')?.[0] ?? ''
  const upstream = connect({ host, port })
  upstream.once('connect', () => {
    const headers = forwarded(request.headers, `localhost:${preview.port}`, (token) =>
      daemon.tokens.knows(token),
    )
    const lines = Object.entries({ ...headers, connection: 'Upgrade', upgrade: 'websocket' }).flatMap(
      ([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`),
    )
    upstream.write(`GET ${path}${search} HTTP/1.1\r\n${lines.join('')}\r\n`)
    if (head.length > 0) upstream.write(head)
  })
  daemon.closing.addEventListener('abort', () => upstream.destroy(), { once: true })
  await Promise.allSettled([pipeline(socket, upstream), pipeline(upstream, socket)])
  upstream.destroy()
  socket.destroy()
}

async function addressOf({ host }: Daemon, { sandbox, port }: Found['preview']): Promise<PortAddress> {
  return (await host.find(sandbox)).ports.resolve(port)
}

function unavailable(port: number, cause: Error): VitrineError {
  return new VitrineError('port_unavailable', `Nothing answers at port ${port}: ${cause.message}`, { cause })
}
