import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { toProblem, VitrineError } from '@vitrine/protocol'
import { checkOptions, serverOptions } from '@vitrine/protocol/options'
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
  /** Default 0: any that is free. */
  readonly port?: number
  /** How many connections at once; default 2,000. */
  readonly maxConnections?: number
  /** How long a caller may take for its headers; default 10 s. */
  readonly headersMs?: number
  /** How long it may pause in the middle of a body, its own or the one it gets; default 5 min. */
  readonly bodyIdleMs?: number
}

export interface Listening extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Streams end with a reason, what is answered just now may end; then every connection is closed. */
  close(): Promise<void>
}

const closeMs = 1_000

/** Puts a server on a port of this machine. */
export async function listen(server: Server, options: ListenOptions = {}): Promise<Listening> {
  checkOptions('listen', serverOptions.listen, options)
  const { hostname = '127.0.0.1', port = 0, maxConnections = 2_000 } = options
  const { headersMs = 10_000, bodyIdleMs = 300_000 } = options
  const listener = http.createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(headersMs, 2_000),
      // Who leaves it out is refused below, in words.
      requireHostHeader: false,
    },
    (incoming, outgoing) => {
      limitBodyIdle(incoming, bodyIdleMs)
      // Whatever cannot be sent is the end of its own connection, and of nothing else.
      sendResponse(server, incoming, outgoing, bodyIdleMs).catch(() => outgoing.destroy())
    },
  )
  const sockets = new Set<Socket>()
  listener.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  listener.maxConnections = maxConnections
  listener.keepAliveTimeout = 65_000
  listener.on('upgrade', server.upgrade)
  listener.on('clientError', (error, socket) => respondToClientError(error, socket as Socket))
  await new Promise<void>((resolve, reject) => {
    listener.once('error', (error) => reject(cannotListen(error, hostname, port)))
    listener.listen(port, hostname, resolve)
  })
  const { port: bound } = listener.address() as AddressInfo
  const close = once(() => closeAll(server, listener, sockets))
  return {
    url: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${bound}`,
    port: bound,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/**
 * A body may take as long as it takes, as long as it goes on. Not by the socket's timeout: that one also ends whoever
 * waits quietly for an answer, and a connection that is kept.
 */
function limitBodyIdle(incoming: IncomingMessage, milliseconds: number): void {
  const { socket, headers } = incoming
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return
  let seen = socket.bytesRead
  // Bytes that wait here were sent: then it is the handler that takes its time.
  const isIdle = () => !incoming.complete && socket.bytesRead === seen && incoming.readableLength === 0
  const timer = setInterval(() => {
    if (incoming.complete) return clearInterval(timer)
    if (!isIdle()) seen = socket.bytesRead
    // Timers run before the sockets are read: where this process was held up, the bytes may be there by now.
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
  // A body that nobody read to its end takes the connection with it: nothing more is to be sent on it.
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
    return problemResponse(error)
  }
}

/** What is not HTTP is told so, where it still listens. */
function respondToClientError(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || socket.bytesWritten > 0) return void socket.destroy()
  const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const problem = toProblem(
    isTimeout
      ? new VitrineError('timeout', 'The headers of the request did not come in time.')
      : new VitrineError('body_invalid', 'That is not a request of HTTP.'),
  )
  const status = isTimeout ? 408 : error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
  sendRawProblem(socket, { ...problem, status })
}

async function closeAll(server: Server, listener: HttpServer, sockets: ReadonlySet<Socket>): Promise<void> {
  server.close()
  const closed = new Promise<void>((resolve) => listener.close(() => resolve()))
  listener.closeIdleConnections()
  // Also those that became something else: the server itself has forgotten them.
  const timer = setTimeout(() => {
    for (const socket of sockets) socket.destroy()
  }, closeMs)
  await closed
  clearTimeout(timer)
}

function cannotListen(error: NodeJS.ErrnoException, hostname: string, port: number): VitrineError {
  const why =
    error.code === 'EADDRINUSE'
      ? 'something else listens there; choose another port, or 0 for any'
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
