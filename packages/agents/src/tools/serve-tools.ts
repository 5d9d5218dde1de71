import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { VitrineError } from '@vitrine/protocol'
import { admission, toolsPath } from './admission.ts'
import { type AroundCall, ToolCalls } from './calls.ts'
import { handleRequest, respondWithFailure, type ToolService } from './handle-request.ts'
import { type HostTool, offerTools } from './host-tool.ts'
import { type ToolLimits, toolLimits } from './limits.ts'
import { listenOnFreePort } from './port.ts'

export interface ServeToolsOptions {
  /** The session whose agent is offered the tools. */
  readonly session: string
  readonly tools: readonly HostTool[]
  /** Binds a port of the sandbox's loopback; `Machine.listen`. */
  readonly listen: (port: number) => Promise<Server>
  /** Wraps every call, to record or reject it. */
  readonly around?: AroundCall
  readonly limits?: ToolLimits
  /** Paths of Node and the relay inside the sandbox; default the paths on the host. */
  readonly relay?: { readonly node?: string; readonly script?: string }
}

type Pair = { name: string; value: string }

/** An entry of `mcpServers` in the Agent Client Protocol, for agents with `mcpCapabilities.http`. */
export type HttpToolsEntry = { type: 'http'; name: string; url: string; headers: Pair[] }

/** An entry of `mcpServers` for all other agents. */
export type StdioToolsEntry = { name: string; command: string; args: string[]; env: Pair[] }

export interface ServedTools {
  readonly url: string
  readonly headers: readonly Pair[]
  /** The bearer token; a secret. */
  readonly token: string
  readonly server: HttpToolsEntry
  readonly stdio: StdioToolsEntry
  /** Cancels all calls. Settles when they have ended and the port is free. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** The MCP server name that the agent sees. */
const serverName = 'host'

/** Time to send the last responses when the server closes. */
const closeGraceMs = 1_000

/** The script that `stdio` runs, on the host. */
export const relayScript = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './relay.ts' : './relay.js', import.meta.url),
)

/** Runs calls outside of the operation in whose async context the server was opened. */
const withoutOperation: <T>(run: () => T) => T = AsyncLocalStorage.snapshot()

/**
 * Offers host functions to an agent with an MCP server on the sandbox's loopback. Every request needs the token.
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
  const { server, port } = await listenOnFreePort(options.listen)
  const closing = new AbortController()
  const service: ToolService = {
    protocol: { tools, calls },
    admit: admission(token, port),
    limits,
    memory: { bytes: 0 },
    closing: closing.signal,
  }
  const stop = serve(server, service)
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

/** Serves HTTP on the connections of `server`. Returns a function that stops it. */
function serve(server: Server, service: ToolService): () => Promise<void> {
  const { limits, closing } = service
  const sockets = new Set<Socket>()
  const running = new Set<Promise<void>>()
  // This HTTP server never listens; it gets the accepted sockets of `server`.
  const http = createServer({ keepAliveTimeout: limits.idleMs })
  http.timeout = limits.idleMs
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const task = withoutOperation(() => handleRequest(service, request, response))
      .catch(() => respondWithFailure(service, response))
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
  // A failed accept affects only that client.
  server.on('error', () => undefined)
  server.unref()

  return async () => {
    const freed = new Promise<void>((resolve) => server.close(() => resolve()))
    await Promise.all(running)
    for (const socket of sockets) socket.destroySoon()
    const timer = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, closeGraceMs)
    await freed
    clearTimeout(timer)
  }
}
