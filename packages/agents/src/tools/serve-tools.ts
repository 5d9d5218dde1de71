import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { VitrineError } from '@vitrine/protocol'
import { admission, toolsPath } from './admission.ts'
import { type AroundCall, ToolCalls } from './calls.ts'
import { exchange, giveUp, type Service } from './exchange.ts'
import { type HostTool, offerTools } from './host-tool.ts'
import { type ToolLimits, toolLimits } from './limits.ts'
import { listenSomewhere } from './port.ts'

export interface ServeToolsOptions {
  /** The session whose agent is offered the tools. */
  readonly session: string
  readonly tools: readonly HostTool[]
  /** Binds a port of the sandbox's loopback; `Machine.listen`. */
  readonly listen: (port: number) => Promise<Server>
  /** Around every call, so that it can be recorded or refused. */
  readonly around?: AroundCall
  readonly limits?: ToolLimits
  /** Where Node and the relay are inside the sandbox; default where they are on the host. */
  readonly relay?: { readonly node?: string; readonly script?: string }
}

type Pair = { name: string; value: string }

/** An entry of `mcpServers` as the Agent Client Protocol has it, for agents with `mcpCapabilities.http`. */
export type HttpToolsEntry = { type: 'http'; name: string; url: string; headers: Pair[] }

/** The same for every other agent. */
export type StdioToolsEntry = { name: string; command: string; args: string[]; env: Pair[] }

export interface ServedTools {
  readonly url: string
  readonly headers: readonly Pair[]
  /** A secret. */
  readonly token: string
  readonly server: HttpToolsEntry
  readonly stdio: StdioToolsEntry
  /** Cancels every call. Settles when all have ended and the port is free. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** What the agent sees the tools under. */
const serverName = 'host'

/** How long an answer may take to get out once the server closes. */
const farewellMs = 1_000

/** The script that `stdio` runs, on the host. */
export const relayScript = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './relay.ts' : './relay.js', import.meta.url),
)

/** A call belongs to no operation of its own accord, though its server was opened inside one. */
const outside: <T>(run: () => T) => T = AsyncLocalStorage.snapshot()

/**
 * Offers functions of this program to an agent: a server of the Model Context Protocol on the sandbox's own loopback,
 * for whoever has the token.
 *
 * @example
 * const served = await serveTools({ session: 'ses_1', tools: [weather], listen: (port) => machine.listen(port) })
 * await agent.newSession({ cwd, mcpServers: [served.server] })
 */
export async function serveTools(options: ServeToolsOptions): Promise<ServedTools> {
  const limits = toolLimits(options.limits ?? {})
  const tools = offerTools(options.tools)
  const token = randomBytes(32).toString('base64url')
  const calls = new ToolCalls(options.session, options.around ?? ((_tool, _input, run) => run()), limits)
  const { server, port } = await listenSomewhere(options.listen)
  const closing = new AbortController()
  const service: Service = {
    protocol: { tools, calls },
    admit: admission(token, port),
    limits,
    holding: { bytes: 0 },
    closing: closing.signal,
  }
  const stop = attend(server, service)
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= (async () => {
      const reason = new VitrineError('cancelled', 'The session was closed.')
      closing.abort(reason)
      calls.end(reason)
      await stop()
    })()
    return closed
  }
  const url = `http://127.0.0.1:${port}${toolsPath}`
  const headers = [{ name: 'Authorization', value: `Bearer ${token}` }]
  return {
    url,
    headers,
    token,
    server: { type: 'http', name: serverName, url, headers },
    stdio: {
      name: serverName,
      command: options.relay?.node ?? process.execPath,
      args: [options.relay?.script ?? relayScript],
      env: [
        { name: 'VITRINE_TOOLS_URL', value: url },
        { name: 'VITRINE_TOOLS_TOKEN', value: token },
      ],
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Answers whoever connects, until it is told to stop. */
function attend(server: Server, service: Service): () => Promise<void> {
  const { limits, closing } = service
  const sockets = new Set<Socket>()
  const running = new Set<Promise<void>>()
  // Never listens: it lends its parser to the sockets that it is given.
  const http = createServer({ keepAliveTimeout: limits.idleMs })
  http.timeout = limits.idleMs
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const task = outside(() => exchange(service, request, response))
      .catch(() => giveUp(service, response))
      .then(() => void running.delete(task))
    running.add(task)
  }
  http.on('request', onRequest).on('checkContinue', onRequest)
  server.on('connection', (socket) => {
    socket.on('error', () => undefined)
    if (closing.aborted || sockets.size >= limits.connections) return void socket.destroy()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    http.emit('connection', socket)
  })
  // A connection that could not be taken is that client's loss only.
  server.on('error', () => undefined)
  server.unref()

  return async () => {
    const freed = new Promise<void>((resolve) => server.close(() => resolve()))
    await Promise.all(running)
    for (const socket of sockets) socket.destroySoon()
    const timer = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, farewellMs)
    await freed
    clearTimeout(timer)
  }
}
