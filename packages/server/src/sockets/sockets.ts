import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { VitrineError } from '@vitrine/protocol'
import { settledWithin } from '@vitrine/protocol/primitives'
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
import { contextOf } from '../routing/call-context.ts'
import { readQuery } from '../routing/query.ts'
import { SocketInbox } from './inbox.ts'
import { maxQueuedBytes, serveTerminal } from './terminal.ts'

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

/** Authenticates WebSocket upgrades and connects them to terminals. */
export class Sockets {
  readonly #daemon: Daemon
  readonly #guards: Guards
  #opening: Promise<WebSocketServer> | undefined

  constructor(daemon: Daemon, guards: Guards) {
    this.#daemon = daemon
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
    const target = this.#parseUrl(url)
    const token = tokenOf(request, target.query)
    const { tokens } = this.#guards
    const caller =
      token === undefined && !tokens.allowsAnonymous ? undefined : fullAccess(tokens.caller(token))
    if (caller !== undefined) setAuthenticated(socket, caller.access)
    this.#opening ??= newServer()
    const server = await this.#opening
    server.handleUpgrade(request, socket, head, (ws) => this.#opened(ws, request, target, caller))
  }

  #opened(
    ws: WebSocket,
    request: IncomingMessage,
    target: { sandbox: string; process: string },
    caller: Caller | undefined,
  ): void {
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
    { sandbox: id, process }: { sandbox: string; process: string },
    authenticated: Caller | undefined,
  ): Promise<void> {
    const inbox = new SocketInbox(ws, maxQueuedBytesBeforeToken)
    const caller = authenticated ?? fullAccess(await this.#authenticate(inbox))
    setAuthenticated(request.socket, caller.access)
    inbox.maxBytes = maxQueuedBytes
    const { host, defaultSandbox } = this.#daemon
    const context = contextOf((name) => [request.headers[name] ?? []].flat().join(', ') || undefined, caller)
    const opening = id === defaultSandbox.id ? defaultSandbox.open(context) : host.find(id, context)
    await serveTerminal(ws, inbox, (await opening).as(context), process)
  }

  /** Reads the token from the first message of a client that sent none in the upgrade. */
  async #authenticate(inbox: SocketInbox): Promise<Caller> {
    const next = inbox.next()
    const first = (await settledWithin(next, this.#guards.tokenMs)) ? await next : undefined
    const text = first === undefined ? '' : String(first.data)
    return this.#guards.tokens.caller(tokenFromMessage(text))
  }

  #parseUrl(url: string): { sandbox: string; process: string; query: Record<string, string> } {
    const [path = '', search = ''] = url.split('?', 2)
    const match = /^\/v1(?:\/sandboxes\/([^/]+))?\/processes\/([^/]+)\/terminal\/ws$/.exec(path)
    if (match === null) throw new VitrineError('route_unknown', `There is no WebSocket route ${path}.`)
    const [, sandbox = this.#daemon.defaultSandbox.id, process = ''] = match
    return { sandbox, process, query: readQuery(search) }
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

/** Loads the WebSocket library when the first terminal is opened. */
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

function fullAccess(caller: Caller): Caller {
  if (caller.access === 'full') return caller
  throw new VitrineError('access_denied', `The token ${caller.name} has read access only.`)
}
