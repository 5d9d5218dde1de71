import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Host, HostCreateOptions } from '@vitrine/host'
import { VitrineError, version } from '@vitrine/protocol'
import { checkOptions, serverOptions } from '@vitrine/protocol/options'
import type { Daemon } from './daemon/daemon.ts'
import { DefaultSandbox } from './daemon/default-sandbox.ts'
import { InFlightCalls } from './daemon/in-flight-calls.ts'
import { Previews } from './daemon/previews.ts'
import { TurnRegistry } from './daemon/turn-registry.ts'
import { securityHeaders } from './guard/headers.ts'
import { Hosts } from './guard/hosts.ts'
import { corsHeaders, Origins, preflightHeaders } from './guard/origins.ts'
import { bearerToken, type NamedToken, Tokens } from './guard/tokens.ts'
import { handlersOf } from './handlers/handlers.ts'
import { fromRequest, type HttpRequest } from './http/http-request.ts'
import { HttpResponse } from './http/http-response.ts'
import { Metrics } from './metrics/metrics.ts'
import { proxy } from './preview/proxy.ts'
import { problemResponse } from './responses/problem.ts'
import { createRouter } from './routing/router.ts'
import { Sockets } from './sockets/sockets.ts'
import { page } from './ui/page.ts'

export interface ServerOptions {
  readonly host: Host
  /** Who may call. Without one nobody may, unless `anyone` says otherwise. */
  readonly tokens: readonly NamedToken[]
  /** A caller without a token has full access: for a daemon that only this machine reaches, and only when said. */
  readonly allowAnonymous?: boolean
  /** The sandbox that routes without an id mean. */
  readonly defaultSandbox?: HostCreateOptions
  /** Origins whose pages may call; none by default. */
  readonly cors?: readonly string[]
  /** Names, beside addresses and localhost, that the daemon answers to. */
  readonly allowHosts?: readonly string[]
  readonly limits?: ServerLimits
}

export interface ServerLimits {
  /** Of a body of JSON; files and archives are streams. Default 64 MiB. */
  readonly jsonBytes?: number
  /** How often a caller that asked for it gets a space while it waits for JSON. Default 15 s. */
  readonly keepAliveMs?: number
  /** How often a stream that has nothing to say says so. Default 10 s. */
  readonly heartbeatMs?: number
  /** How long a reader may take for what it was given. Default 30 s. */
  readonly stallMs?: number
  /** How long a WebSocket that came without a token may take to send one. Default 5 s. */
  readonly tokenMs?: number
}

/** The HTTP face of a host. It borrows the host: closing it ends connections, never a sandbox. */
export interface Server {
  /** A web-standard handler: mount it in an app of your own. */
  readonly fetch: (request: Request) => Promise<Response>
  /** What `listen` answers with. It never rejects. */
  readonly respond: (request: HttpRequest) => Promise<HttpResponse>
  /** For the `upgrade` event of a server of Node: terminals over WebSockets. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Streams end with a reason. */
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
  const closing = new AbortController()
  const callers = new Tokens(tokens, options.allowAnonymous ? { name: 'anyone', access: 'full' } : undefined)
  const daemon: Daemon = {
    host,
    defaultSandbox: new DefaultSandbox(host, options.defaultSandbox),
    turns: new TurnRegistry(),
    metrics: new Metrics(),
    tokens: callers,
    calls: new InFlightCalls(),
    previews: new Previews((id) => host.list().some((one) => one.id === id && one.state !== 'destroyed')),
    streams: { heartbeatMs: limits.heartbeatMs ?? 10_000, stallMs: limits.stallMs ?? 30_000 },
    version,
    closing: closing.signal,
  }
  const hosts = new Hosts(options.allowHosts)
  const origins = new Origins(options.cors)
  const sockets = new Sockets(daemon, { hosts, origins, tokens: callers, tokenMs: limits.tokenMs ?? 5_000 })
  const route = createRouter(daemon, handlersOf(daemon), {
    jsonBytes: limits.jsonBytes ?? 64 * 1024 * 1024,
    keepAliveMs: limits.keepAliveMs ?? 15_000,
  })

  /** Who it is and whether it may is settled before anybody looks at what it wants. */
  async function respond(request: HttpRequest): Promise<HttpResponse> {
    const { host, path } = request
    // A preview is known by its token, which no page can guess; nothing else of the daemon is behind its name.
    const preview = daemon.previews.find(host, path)
    if (preview !== undefined) return proxy(daemon, preview, request)
    hosts.check(host)
    const origin = origins.check(request.header('origin'), host)
    if (request.method === 'OPTIONS' && origin !== undefined)
      return new HttpResponse(204, { ...securityHeaders, ...preflightHeaders(origin) }, null)
    if (path === '/' || path === '/ui' || path.startsWith('/ui/')) return page(path, request.method)
    let response: HttpResponse
    try {
      if (closing.signal.aborted) throw new VitrineError('server_closing', 'The daemon is going down.')
      response = await route(request, callers.caller(bearerToken(request.header('authorization'))))
    } catch (error) {
      response = problemResponse(error)
    }
    return origin === undefined ? response : response.with(corsHeaders(origin))
  }

  const respondSafely = (request: HttpRequest) =>
    respond(request).catch((error: unknown) => problemResponse(error))
  return {
    respond: respondSafely,
    fetch: async (request) => (await respondSafely(fromRequest(request))).toResponse(),
    upgrade: (request, socket, head) => sockets.upgrade(request, socket, head),
    close: () => closing.abort(),
  }
}
