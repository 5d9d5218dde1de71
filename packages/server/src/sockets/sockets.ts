import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { toProblem, VitrineError } from '@vitrine/protocol'
import type { WebSocket, WebSocketServer } from 'ws'
import type { Daemon } from '../daemon.ts'
import type { Caller } from '../guard/caller.ts'
import type { Hosts } from '../guard/hosts.ts'
import type { Origins } from '../guard/origins.ts'
import { bearerToken, type Tokens, tokenPrefix } from '../guard/tokens.ts'
import { proxyUpgrade } from '../preview/proxy.ts'
import { refuseRaw } from '../responses/raw-problem.ts'
import { readQuery } from '../routing/query.ts'
import { Inbox } from './inbox.ts'
import { maxWaitingBytes, serveTerminal } from './terminal.ts'

const maxMessageBytes = 1024 * 1024
const maxWaitingBeforeToken = 64 * 1024
const protocol = 'vitrine'

export interface Guards {
  readonly hosts: Hosts
  readonly origins: Origins
  readonly tokens: Tokens
  /** How long a WebSocket that came without a token may take to send one. */
  readonly tokenMs: number
}

/** Opens WebSockets for those who may. */
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
    const [path = ''] = (request.url ?? '').split('?', 1)
    const preview = this.#daemon.previews.find(request.headers.host, path)
    if (preview !== undefined) {
      proxyUpgrade(this.#daemon, preview, request, socket, head).catch((error: unknown) =>
        refuse(socket, error),
      )
      return
    }
    let wanted: { sandbox: string; process: string; query: Record<string, string> }
    let caller: Caller | undefined
    try {
      if (this.#daemon.closing.aborted) throw new VitrineError('server_closing', 'The daemon is going down.')
      this.#guards.hosts.check(request.headers.host)
      this.#guards.origins.check(request.headers.origin, request.headers.host)
      wanted = this.#wanted(request.url ?? '')
      const token = tokenOf(request, wanted.query)
      const { tokens } = this.#guards
      if (token !== undefined || tokens.isOpen) caller = fullAccess(tokens.caller(token))
    } catch (error) {
      refuse(socket, error)
      return
    }
    this.#opening ??= newServer()
    this.#opening
      .then((server) => server.handleUpgrade(request, socket, head, (ws) => this.#opened(ws, wanted, caller)))
      .catch((error: unknown) => refuse(socket, error))
  }

  #opened(ws: WebSocket, wanted: { sandbox: string; process: string }, caller: Caller | undefined): void {
    ws.on('error', () => ws.terminate())
    this.#serve(ws, wanted, caller).catch((error: unknown) => {
      const { code, detail } = toProblem(error)
      const status = code === 'token_invalid' || code === 'access_denied' ? 4401 : 1011
      // A reason has 123 bytes at most, and a path may have letters of several.
      ws.close(status, Buffer.from(detail).subarray(0, 120).toString().replaceAll('\ufffd', ''))
    })
  }

  async #serve(
    ws: WebSocket,
    { sandbox: id, process }: { sandbox: string; process: string },
    known: Caller | undefined,
  ): Promise<void> {
    const inbox = new Inbox(ws, maxWaitingBeforeToken)
    const caller = known ?? fullAccess(await this.#introduced(inbox))
    inbox.maxBytes = maxWaitingBytes
    const { host, defaultSandbox } = this.#daemon
    const sandbox = id === defaultSandbox.id ? await defaultSandbox.open() : await host.find(id)
    await serveTerminal(ws, inbox, sandbox.as({ actor: caller.name }), process)
  }

  /** Who came without a token may say it first, and nothing else. */
  async #introduced(inbox: Inbox): Promise<Caller> {
    const first = await Promise.race([inbox.next(), sleep(this.#guards.tokenMs, undefined, { ref: false })])
    const text = first === undefined ? '' : String(first.data)
    return this.#guards.tokens.caller(tokenIn(text))
  }

  #wanted(url: string): { sandbox: string; process: string; query: Record<string, string> } {
    const [path = '', search = ''] = url.split('?', 2)
    const found = /^\/v1(?:\/sandboxes\/([^/]+))?\/processes\/([^/]+)\/terminal\/ws$/.exec(path)
    if (found === null) throw new VitrineError('route_unknown', 'There is no such WebSocket.')
    const [, sandbox = this.#daemon.defaultSandbox.id, process = ''] = found
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

/** Loaded when somebody opens a terminal. */
async function newServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws')
  return new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    handleProtocols: (offered) => (offered.has(protocol) ? protocol : false),
  })
}

/** By header, by subprotocol, or, for the one client that can do nothing else, in the query. */
function tokenOf({ headers }: IncomingMessage, query: Record<string, string>): string | undefined {
  const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? []
  const named = offered.find((name) => name.startsWith(tokenPrefix))?.slice(tokenPrefix.length)
  return bearerToken(headers.authorization) ?? named ?? query.access_token
}

function tokenIn(text: string): string | undefined {
  try {
    const { type, token } = JSON.parse(text)
    return type === 'auth' && typeof token === 'string' ? token : undefined
  } catch {
    return undefined
  }
}

function fullAccess(caller: Caller): Caller {
  if (caller.access === 'full') return caller
  throw new VitrineError('access_denied', `The token ${caller.name} may only look on.`)
}

function refuse(socket: Duplex, error: unknown): void {
  refuseRaw(socket, toProblem(error))
}
