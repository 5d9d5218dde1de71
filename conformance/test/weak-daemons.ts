import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { AttackedDaemon } from '../src/index.ts'

/** A daemon with one weakness. */
export interface WeakDaemon {
  readonly daemon: AttackedDaemon
  close(): void
}

type WeakDaemonOf = (daemon: AttackedDaemon) => Promise<WeakDaemon>

interface Weakness {
  /** Changes the text of a request, or responds to it with this status. */
  request?(path: string, body: string): string | number
  /** Changes the text of a problem. */
  problem?(problem: string, requestBody: string): string
  /** The port that gets a request, with all of its headers, instead of the daemon. */
  port?(path: string): { readonly port: number; readonly path: string } | undefined
  /** Sees every response. */
  responded?(path: string, body: string): void
  /** Runs a request. */
  run?(send: () => Promise<void>): Promise<void>
}

/** Forwards every request to the daemon, with a weakness. */
async function weakProxy(daemon: AttackedDaemon, weakness: Weakness): Promise<WeakDaemon> {
  const server = createServer((received, response) => {
    const run = weakness.run ?? ((send) => send())
    run(() => forward(daemon, weakness, received, response)).catch(() => response.destroy())
  })
  server.on('upgrade', (received, socket) => {
    const target = weakness.port?.(received.url ?? '')
    const upstream = connect({ host: '127.0.0.1', port: target?.port ?? portOf(daemon) })
    const lines = received.rawHeaders.flatMap((name, at, all) => (at % 2 ? [] : [`${name}: ${all[at + 1]}`]))
    upstream.write([`GET ${target?.path ?? received.url} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
    for (const one of [upstream, socket]) one.on('error', () => undefined)
    upstream.pipe(socket).pipe(upstream)
  })
  return listening(daemon, server, () => server.closeAllConnections())
}

async function listening(daemon: AttackedDaemon, server: Server, closeAll: () => void): Promise<WeakDaemon> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    daemon: { ...daemon, url: `http://127.0.0.1:${port}` },
    close() {
      closeAll()
      server.close()
    },
  }
}

function portOf({ url }: AttackedDaemon): number {
  return Number(new URL(url).port)
}

async function forward(
  daemon: AttackedDaemon,
  weakness: Weakness,
  received: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = received.url ?? ''
  const text = String(await buffer(received))
  const body = weakness.request?.(path, text) ?? text
  if (typeof body === 'number') return void response.writeHead(body).end('{"detail":"internal error"}')
  const target = weakness.port?.(path) ?? { port: portOf(daemon), path }
  const {
    'content-length': _length,
    'transfer-encoding': _encoding,
    host: _host,
    ...headers
  } = received.headers
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', method: received.method, agent: false, headers, ...target })
    sent.once('response', resolve).once('error', reject).end(body)
  })
  const status = answer.statusCode ?? 502
  const answered = String(await buffer(answer))
  weakness.responded?.(path, answered)
  const { 'content-length': _answered, 'transfer-encoding': _chunked, ...others } = answer.headers
  const shown = status >= 400 ? (weakness.problem?.(answered, text) ?? answered) : answered
  response.writeHead(status, others).end(shown)
}

/** Counts all connections alike, and refuses new ones when there are too many. */
export const countsAllConnections: WeakDaemonOf = async (daemon) => {
  const sockets = new Set<{ destroy(): void }>()
  const server = createTcpServer((socket) => {
    const upstream = connect({ host: '127.0.0.1', port: portOf(daemon) })
    for (const one of [upstream, socket]) {
      sockets.add(one)
      one.on('error', () => undefined)
    }
    // A connection that the daemon closes still counts.
    socket.pipe(upstream)
    upstream.pipe(socket, { end: false })
  })
  server.maxConnections = daemon.maxConnections
  return listening(daemon, server, () => {
    for (const socket of sockets) socket.destroy()
  })
}

/** Repeats in its errors what it received. */
export const repeatsValues: WeakDaemonOf = (daemon) =>
  weakProxy(daemon, {
    problem: (problem, received) => `${problem.slice(0, -1)},"got":${JSON.stringify(received)}}`,
  })

/** Fails at a text that is too deep for its parser. */
export const failsAtDepth: WeakDaemonOf = (daemon) =>
  weakProxy(daemon, { request: (_path, body) => (body.includes('['.repeat(10_000)) ? 500 : body) })

/** Accepts any number of keys. */
export const acceptsAnyWidth: WeakDaemonOf = (daemon) =>
  weakProxy(daemon, { request: (_path, body) => body.replace(/"fields":\{"k0".*?\}/, '"fields":{}') })

/** Drops the name of a prototype in silence. */
export const dropsPrototypes: WeakDaemonOf = (daemon) =>
  weakProxy(daemon, { request: (_path, body) => body.replace(/"__proto__":("x"|\{"x":"y"\})/, '') })

/** Passes everything that a preview gets to the program inside. */
export const passesTokens: WeakDaemonOf = (daemon) => {
  const ports = new Map<string, number>()
  return weakProxy(daemon, {
    responded(path, body) {
      const port = /\/ports\/(\d+)\/preview$/.exec(path)?.[1]
      if (port !== undefined) ports.set(JSON.parse(body).path, Number(port))
    },
    port(path) {
      const [preview = ''] = /^\/preview\/[^/]+\//.exec(path) ?? []
      const port = ports.get(preview)
      return port === undefined ? undefined : { port, path: `/${path.slice(preview.length)}` }
    },
  })
}

/** Gives an agent its credentials as ordinary variables. */
export const givesVariables: WeakDaemonOf = (daemon) =>
  weakProxy(daemon, {
    request: (path, body) => (path.endsWith('/sessions') ? body.replace('"credentials"', '"env"') : body),
  })

/** Serves one request after the other. */
export const servesInTurn: WeakDaemonOf = (daemon) => {
  let last: Promise<void> = Promise.resolve()
  return weakProxy(daemon, {
    run(send) {
      last = last.then(send, send)
      return last
    },
  })
}

/** Attaches a sandbox with empty secrets. */
export const attachesWithout: WeakDaemonOf = (daemon) =>
  weakProxy(daemon, {
    request: (path, body) => (path.endsWith('/attach') ? '{"secrets":{"KEY":"as-good-as-none"}}' : body),
  })
