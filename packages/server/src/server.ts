import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Host, HostCreateOptions } from '@vitrine/host'
import { VitrineError, version } from '@vitrine/protocol'
import { checkOptions, serverOptions } from '@vitrine/protocol/options'
import { notifyOne } from '@vitrine/protocol/primitives'
import type { Daemon } from './daemon/daemon.ts'
import { DefaultSandbox } from './daemon/default-sandbox.ts'
import { InFlightCalls } from './daemon/in-flight-calls.ts'
import { LongReads } from './daemon/long-reads.ts'
import { Previews } from './daemon/previews.ts'
import { securityHeaders } from './guard/headers.ts'
import { HostHeaderGuard } from './guard/host-header.ts'
import { corsHeaders, Origins, preflightHeaders } from './guard/origins.ts'
import { invalidRequestUrl } from './guard/request-head.ts'
import { bearerToken, type NamedToken, Tokens } from './guard/tokens.ts'
import { handlersOf } from './handlers/handlers.ts'
import { loggedPath, type OnRequest } from './http/access-log.ts'
import { fromRequest, type HttpRequest } from './http/http-request.ts'
import { HttpResponse } from './http/http-response.ts'
import { Metrics } from './metrics/metrics.ts'
import { proxy } from './preview/proxy.ts'
import { problemResponse } from './responses/problem.ts'
import { redactedProblem } from './responses/redacted-problem.ts'
import { createRouter } from './routing/router.ts'
import { socketRoutes } from './sockets/socket-routes.ts'
import { Sockets } from './sockets/sockets.ts'
import { page } from './ui/page.ts'

export interface ServerOptions {
  readonly host: Host
  /** The tokens that give access. Without any, every request is refused unless `allowAnonymous` is set. */
  readonly tokens: readonly NamedToken[]
  /** Gives requests without a token full access. For a daemon that only this machine can reach. */
  readonly allowAnonymous?: boolean
  /** The sandbox of routes without a sandbox id. */
  readonly defaultSandbox?: HostCreateOptions
  /** Origins whose pages may call the daemon; none by default. */
  readonly cors?: readonly string[]
  /** Allowed names in the Host header, in addition to IP addresses and localhost. */
  readonly allowHosts?: readonly string[]
  readonly limits?: ServerLimits
  /** Called for each response, for an access log. It gets no queries, headers or bodies. */
  readonly onRequest?: OnRequest
}

export interface ServerLimits {
  /** Maximum size of a JSON body; files and archives are streams. Default 64 MiB. */
  readonly jsonBytes?: number
  /** How often a request with `vitrine-keepalive: true` gets a space while it waits for its JSON. Default 15 s. */
  readonly keepAliveMs?: number
  /** How often an idle stream sends a heartbeat. Default 10 s. */
  readonly heartbeatMs?: number
  /** How long the reader of a stream or of a long read may take for one part before it is disconnected. Default 30 s. */
  readonly stallMs?: number
  /** How long a WebSocket that was opened without a token may take to send one. Default 5 s. */
  readonly tokenMs?: number
}

/** The HTTP API of a host. Closing it ends connections, never a sandbox or the host. */
export interface Server {
  /** A web-standard handler: mount it in an app of your own. */
  readonly fetch: (request: Request) => Promise<Response>
  /** Handles a request of `listen`. It never rejects. */
  readonly respond: (request: HttpRequest) => Promise<HttpResponse>
  /** For the `upgrade` event of a Node server: the WebSocket routes. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Ends streams with a reason and refuses new requests. */
  close(): void
}

/**
 * @example
 * const server = createServer({ host, tokens: [{ name: 'me', token, access: 'full' }] })
 * const response = await server.fetch(new Request('http://localhost/v1/health', { headers }))
 */
export function createServer(options: ServerOptions): Server {
  checkOptions('createServer', serverOptions.create, options ?? {})
  const { host, tokens, limits = {} } = options
  const { store } = host
  const { stallMs = 30_000 } = limits
  const closing = new AbortController()
  const callers = new Tokens(tokens, options.allowAnonymous ? { name: 'anyone', access: 'full' } : undefined)
  // A token gives access to every sandbox, so an event must not hand it to a reader. It is not kept: the next daemon
  // registers its own tokens, and others open nothing.
  for (const { name, token } of tokens) host.store.addSecret(`token of ${name}`, token, { kept: false })
  const problemOf = (error: unknown) => redactedProblem(error, (text) => host.store.redactText(text))
  const daemon: Daemon = {
    host,
    defaultSandbox: new DefaultSandbox(host, options.defaultSandbox),
    metrics: new Metrics(),
    tokens: callers,
    calls: new InFlightCalls(),
    longReads: new LongReads(stallMs),
    previews: new Previews((id) => (host.info(id)?.state ?? 'destroyed') !== 'destroyed'),
    streams: { heartbeatMs: limits.heartbeatMs ?? 10_000, stallMs, problemOf },
    version,
    problemOf,
    closing: closing.signal,
  }
  const hosts = new HostHeaderGuard(options.allowHosts)
  const origins = new Origins(options.cors)
  const handlers = handlersOf(daemon)
  const sockets = new Sockets(daemon, socketRoutes(daemon, handlers), {
    ...{ hosts, origins, tokens: callers },
    tokenMs: limits.tokenMs ?? 5_000,
  })
  const route = createRouter(daemon, handlers, {
    jsonBytes: limits.jsonBytes ?? 64 * 1024 * 1024,
    keepAliveMs: limits.keepAliveMs ?? 15_000,
    stallMs,
  })

  /** Checks host, origin and token before the request is routed. */
  async function respond(
    request: HttpRequest,
    onCaller: (name: string) => void = () => undefined,
  ): Promise<HttpResponse> {
    const { host, path } = request
    // A preview is protected by its unguessable token, and its host name serves nothing else of the daemon.
    const preview = daemon.previews.find(host, path)
    if (preview !== undefined && path !== '') {
      request.setAuthenticated('read')
      return proxy(daemon, preview, request)
    }
    if (preview === undefined) hosts.check(host)
    if (path === '') throw invalidRequestUrl()
    const origin = origins.check(request.header('origin'), host)
    if (request.method === 'OPTIONS' && origin !== undefined)
      return new HttpResponse(204, { ...securityHeaders, ...preflightHeaders(origin) }, null)
    if (path === '/healthz') return alive(request.method, closing.signal.aborted)
    if (path === '/' || path === '/ui' || path.startsWith('/ui/')) return page(path, request.method)
    let response: HttpResponse
    try {
      if (closing.signal.aborted) throw new VitrineError('server_closing', 'The daemon is shutting down.')
      const caller = callers.caller(bearerToken(request.header('authorization')))
      onCaller(caller.name)
      request.setAuthenticated(caller.access)
      response = await route(request, caller)
    } catch (error) {
      response = problemResponse(problemOf(error))
    }
    return origin === undefined ? response : response.with(corsHeaders(origin))
  }

  const { onRequest } = options
  const respondSafely = async (request: HttpRequest) => {
    const began = performance.now()
    let caller: string | undefined
    const response = await respond(request, (name) => {
      caller = name
    }).catch((error: unknown) => problemResponse(problemOf(error)))
    if (onRequest !== undefined) {
      const path = loggedPath(request, (text) => store.redactText(text))
      const durationMs = performance.now() - began
      const { method } = request
      const entry = {
        method,
        path,
        status: response.status,
        durationMs,
        ...(caller !== undefined && { caller }),
      }
      void notifyOne(onRequest, entry, () => undefined)
    }
    return response
  }
  return {
    respond: respondSafely,
    fetch: async (request) => (await respondSafely(fromRequest(request))).toResponse(),
    upgrade: (request, socket, head) => sockets.upgrade(request, socket, head),
    close: () => closing.abort(),
  }
}

/** For probes, without a token: says only that the daemon is alive, and 503 once it is closing. */
function alive(method: string, isClosing: boolean): HttpResponse {
  const headers = { ...securityHeaders, 'content-type': 'application/json' }
  if (method !== 'GET' && method !== 'HEAD')
    return new HttpResponse(405, { ...headers, allow: 'GET, HEAD' }, null)
  const response = new HttpResponse(
    isClosing ? 503 : 200,
    headers,
    JSON.stringify({ status: isClosing ? 'closing' : 'ok' }),
  )
  return method === 'HEAD' ? response.head() : response
}
