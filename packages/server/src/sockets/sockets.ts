import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { VitrineError } from '@vitrine/protocol'
import { settledWithin, shown } from '@vitrine/protocol/primitives'
import type { WebSocket, WebSocketServer } from 'ws'
import type { Daemon } from '../daemon/daemon.ts'
import { setAuthenticated } from '../guard/authenticated.ts'
import type { Caller } from '../guard/caller.ts'
import type { HostHeaderGuard } from '../guard/host-header.ts'
import type { Origins } from '../guard/origins.ts'
import { authorizationOf, checkSingleHeaders, invalidRequestUrl, requestPath } from '../guard/request-head.ts'
import { bearerToken, type Tokens, tokenPrefix } from '../guard/tokens.ts'
import { proxyUpgrade } from '../preview/proxy.ts'
import { sendRawProblem } from '../responses/raw-problem.ts'
import { checkQuery } from '../routing/body.ts'
import { contextOf } from '../routing/call-context.ts'
import { callTarget } from '../routing/call-target.ts'
import { checkAccess } from '../routing/check-access.ts'
import { readQuery } from '../routing/query.ts'
import type { RouteTrie } from '../routing/route-trie.ts'
import { SocketInbox } from './inbox.ts'
import { MessageSocket, maxQueuedBytes } from './message-socket.ts'
import type { SocketRoute } from './socket-routes.ts'

const maxMessageBytes = 1024 * 1024
const maxQueuedBytesBeforeToken = 64 * 1024
const protocol = 'vitrine'

export interface Guards {
  readonly hosts: HostHeaderGuard
  readonly origins: Origins
  readonly tokens: Tokens
  /** How long a WebSocket that was opened without a token may take to send one. */
  readonly tokenMs: number
}

/** The route, the parameters and the query of an upgrade. */
interface Target extends SocketRoute {
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
}

/** Authenticates WebSocket upgrades and connects them to the handlers of their routes. */
export class Sockets {
  readonly #daemon: Daemon
  readonly #routes: RouteTrie<SocketRoute>
  readonly #guards: Guards
  #opening: Promise<WebSocketServer> | undefined

  constructor(daemon: Daemon, routes: RouteTrie<SocketRoute>, guards: Guards) {
    this.#daemon = daemon
    this.#routes = routes
    this.#guards = guards
    daemon.closing.addEventListener('abort', () => void this.#close(), { once: true })
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    this.#accept(request, socket, head).catch((error: unknown) =>
      sendRawProblem(socket, this.#daemon.problemOf(error)),
    )
  }

  async #accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { url = '', rawHeaders } = request
    const { host, origin } = request.headers
    checkSingleHeaders(rawHeaders)
    const path = requestPath(url)
    const preview = this.#daemon.previews.find(host, path)
    if (preview === undefined) this.#guards.hosts.check(host)
    if (path === '') throw invalidRequestUrl()
    if (preview !== undefined) {
      setAuthenticated(socket, 'read')
      return proxyUpgrade(this.#daemon, preview, request, socket, head)
    }
    if (this.#daemon.closing.aborted) throw new VitrineError('server_closing', 'The daemon is shutting down.')
    this.#guards.origins.check(origin, host)
    const found = this.#routes.find(path)
    if (found === undefined)
      throw new VitrineError('route_unknown', `There is no WebSocket route ${shown(path)}.`)
    const { route } = found.value
    const query = readQuery(url.slice(url.split('?', 1)[0]?.length))
    const token = tokenOf(request, query)
    const { tokens } = this.#guards
    const caller = token === undefined && !tokens.allowsAnonymous ? undefined : tokens.caller(token)
    if (caller !== undefined) {
      checkAccess(route, caller)
      setAuthenticated(socket, caller.access)
    }
    const target = { ...found.value, params: found.params, query: checkQuery(query, route) }
    this.#opening ??= newServer()
    const server = await this.#opening
    server.handleUpgrade(request, socket, head, (ws) => this.#opened(ws, request, target, caller))
  }

  #opened(ws: WebSocket, request: IncomingMessage, target: Target, caller: Caller | undefined): void {
    target.count(101)
    ws.on('error', () => ws.terminate())
    this.#serve(ws, request, target, caller).catch((error: unknown) => {
      const { code, detail } = this.#daemon.problemOf(error)
      const status = code === 'token_invalid' || code === 'access_denied' ? 4401 : 1011
      // A close reason has 123 bytes at most; a character that the cut splits is removed.
      ws.close(status, Buffer.from(detail).subarray(0, 120).toString().replaceAll('\ufffd', ''))
    })
  }

  async #serve(
    ws: WebSocket,
    request: IncomingMessage,
    { route, serve, params, query }: Target,
    authenticated: Caller | undefined,
  ): Promise<void> {
    const inbox = new SocketInbox(ws, maxQueuedBytesBeforeToken)
    const caller = authenticated ?? (await this.#authenticate(inbox))
    checkAccess(route, caller)
    setAuthenticated(request.socket, caller.access)
    inbox.maxBytes = maxQueuedBytes
    const context = () =>
      contextOf((name) => [request.headers[name] ?? []].flat().join(', ') || undefined, caller)
    const socket = new MessageSocket(ws, inbox, route)
    await serve({
      socket,
      params,
      query,
      caller,
      context,
      ...callTarget(this.#daemon, params, context, caller, 'never'),
    })
  }

  /** Reads the token from the first message of a client that sent none in the upgrade. */
  async #authenticate(inbox: SocketInbox): Promise<Caller> {
    const next = inbox.next()
    const first = (await settledWithin(next, this.#guards.tokenMs)) ? await next : undefined
    const text = first === undefined ? '' : String(first.data)
    return this.#guards.tokens.caller(tokenFromMessage(text))
  }

  async #close(): Promise<void> {
    const server = await this.#opening
    if (server === undefined) return
    for (const ws of server.clients) ws.close(1001, 'closing')
    server.close()
    setTimeout(() => {
      for (const ws of server.clients) ws.terminate()
    }, 500).unref()
  }
}

/** Loads the WebSocket library when the first connection is opened. */
async function newServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws')
  return new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    handleProtocols: (offered) => (offered.has(protocol) ? protocol : false),
  })
}

/** The token from the header, from a subprotocol, or from the query for clients that can send neither. */
function tokenOf(request: IncomingMessage, query: Record<string, string>): string | undefined {
  const offered = request.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? []
  const named = offered.find((name) => name.startsWith(tokenPrefix))?.slice(tokenPrefix.length)
  return bearerToken(authorizationOf(request)) ?? named ?? query.access_token
}

function tokenFromMessage(text: string): string | undefined {
  try {
    const { type, token } = JSON.parse(text)
    return type === 'auth' && typeof token === 'string' ? token : undefined
  } catch {
    return undefined
  }
}
