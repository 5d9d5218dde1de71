import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { toProblem, VitrineError } from '@vitrine/protocol'
import { checkOptions, serverOptions } from '@vitrine/protocol/options'
import { Connections } from './connections.ts'
import { http } from './http/http.ts'
import type { HttpResponse } from './http/http-response.ts'
import { NodeRequest } from './http/node-request.ts'
import { send } from './http/send.ts'
import { problemResponse } from './responses/problem.ts'
import { sendRawProblem } from './responses/raw-problem.ts'
import type { Server } from './server.ts'

export interface ListenOptions {
  /** Default 127.0.0.1. */
  readonly hostname?: string
  /** Default 0: any free port. */
  readonly port?: number
  /** Maximum number of concurrent connections; default 2,000. Those that have not shown a token may be a quarter of them, those with read access half. */
  readonly maxConnections?: number
  /** How long a client may take to send its headers; default 10 s. */
  readonly headersMs?: number
  /** How long a client may pause while it sends or reads a body; default 5 min. */
  readonly bodyIdleMs?: number
}

export interface Listening extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Ends streams with a reason, lets running responses finish for a second, then closes every connection. */
  close(): Promise<void>
}

const closeMs = 1_000

/** Listens on a port of this machine. */
export async function listen(server: Server, options: ListenOptions = {}): Promise<Listening> {
  checkOptions('listen', serverOptions.listen, options)
  const { hostname = '127.0.0.1', port = 0, maxConnections = 2_000 } = options
  const { headersMs = 10_000, bodyIdleMs = 300_000 } = options
  const connections = new Connections(maxConnections)
  const listener = http.createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(headersMs, 2_000),
      // NodeRequest refuses a missing Host header with a problem+json body.
      requireHostHeader: false,
    },
    (incoming, outgoing) => {
      limitBodyIdle(incoming, bodyIdleMs)
      // A failure while sending closes only its own connection.
      sendResponse(server, incoming, outgoing, bodyIdleMs).catch(() => outgoing.destroy())
    },
  )
  listener.on('connection', (socket) => connections.add(socket))
  listener.keepAliveTimeout = 65_000
  listener.on('upgrade', server.upgrade)
  listener.on('clientError', (error, socket) => respondToClientError(error, socket as Socket))
  await new Promise<void>((resolve, reject) => {
    listener.once('error', (error) => reject(cannotListen(error, hostname, port)))
    listener.listen(port, hostname, resolve)
  })
  const { port: bound } = listener.address() as AddressInfo
  const close = once(() => closeAll(server, listener, connections))
  return {
    url: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${bound}`,
    port: bound,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/**
 * Limits the pauses of a request body, not its total time. Not with the socket's timeout: that would also end clients
 * that wait for a response, and idle keep-alive connections.
 */
function limitBodyIdle(incoming: IncomingMessage, milliseconds: number): void {
  const { socket, headers } = incoming
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return
  let seen = socket.bytesRead
  // Buffered bytes mean that the client has sent and the handler is slow.
  const isIdle = () => !incoming.complete && socket.bytesRead === seen && incoming.readableLength === 0
  const timer = setInterval(() => {
    if (incoming.complete) return clearInterval(timer)
    if (!isIdle()) seen = socket.bytesRead
    // Timers run before socket reads: if the event loop was blocked, the bytes may have arrived by now.
    else setImmediate(() => isIdle() && incoming.destroy())
  }, milliseconds)
  timer.unref()
  incoming.once('close', () => clearInterval(timer))
}

async function sendResponse(
  server: Server,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  idleMs: number,
): Promise<void> {
  const response = await responseTo(server, incoming, outgoing)
  // The rest of an unread body would be parsed as the next request, so the connection is closed.
  if (!incoming.complete || incoming.readableLength > 0) outgoing.setHeader('connection', 'close')
  await send(response, outgoing, idleMs)
}

async function responseTo(
  server: Server,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<HttpResponse> {
  try {
    return await server.respond(new NodeRequest(incoming, outgoing))
  } catch (error) {
    return problemResponse(toProblem(error))
  }
}

/** Responds to malformed HTTP if nothing was sent on the connection yet. */
function respondToClientError(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || socket.bytesWritten > 0) return void socket.destroy()
  const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const problem = toProblem(
    isTimeout
      ? new VitrineError('timeout', 'The request headers did not arrive in time.')
      : new VitrineError('body_invalid', 'Invalid HTTP request.'),
  )
  const status = isTimeout ? 408 : error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
  sendRawProblem(socket, { ...problem, status })
}

async function closeAll(server: Server, listener: HttpServer, connections: Connections): Promise<void> {
  server.close()
  const closed = new Promise<void>((resolve) => listener.close(() => resolve()))
  listener.closeIdleConnections()
  // Includes upgraded sockets, which the HTTP server does not track.
  const timer = setTimeout(() => connections.destroyAll(), closeMs)
  await closed
  clearTimeout(timer)
}

function cannotListen(error: NodeJS.ErrnoException, hostname: string, port: number): VitrineError {
  const why =
    error.code === 'EADDRINUSE'
      ? 'the port is in use; choose another port, or 0 for any free one'
      : error.message
  return new VitrineError('argument_invalid', `Cannot listen on ${hostname}:${port}: ${why}.`, {
    cause: error,
  })
}

function once<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= run()
    return running
  }
}
