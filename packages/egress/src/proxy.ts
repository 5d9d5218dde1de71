import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { localOptions, parseAs } from '@vitrine/protocol/options'
import { Semaphore } from '@vitrine/protocol/primitives'
import { readAllowList } from './allow-list.ts'
import type { RecordEgress } from './event.ts'
import { exchangePlain, exchangeTunnel, type MalformedError, refuseMalformed, reject } from './exchange.ts'
import type { EgressContext } from './open-upstream.ts'
import { ProxyClient } from './proxy-client.ts'
import { type Lookup, lookupAll } from './resolve.ts'

export interface EgressLimits {
  /** Maximum of concurrent connections; default 256. */
  readonly connections?: number
  /** Time limit for the DNS lookup, and again for all connection attempts; default 10 s. */
  readonly dialMs?: number
  /** Time limit for the head of each request on a connection to arrive; default 10 s. */
  readonly headerMs?: number
  /** Closes a connection after this time without a byte in either direction; default none. */
  readonly idleMs?: number
}

export interface EgressProxyOptions {
  /** The allowed targets, each a host with a port: `'registry.example:443'`. */
  readonly allow: readonly string[]
  readonly lookup?: Lookup
  readonly record: RecordEgress
  readonly limits?: EgressLimits
  /** Closes the proxy. */
  readonly signal?: AbortSignal
}

export interface EgressProxy {
  /** Adds targets to the allow-list. */
  allow(entries: readonly string[]): void
  /** Serves an accepted connection from inside the sandbox. */
  handle(socket: Socket, from?: { readonly process?: string }): void
  /** Closes every connection; resolves once all their ends are recorded. */
  close(): Promise<void>
}

/**
 * An HTTP proxy with an allow-list that records every connection: the only egress of a sandbox without network.
 *
 * @example
 * const proxy = createEgressProxy({ allow: ['registry.example:443'], record: (event) => append(event) })
 * createServer((socket) => proxy.handle(socket)).listen(port, '127.0.0.1')
 */
export function createEgressProxy(options: EgressProxyOptions): EgressProxy {
  const { dialMs, headerMs, idleMs, connections } = withDefaultLimits(options.limits ?? {})
  const entries = [...options.allow]
  let list = readAllowList(entries)
  const context: EgressContext = {
    allow: { has: (target) => list.has(target) },
    lookup: options.lookup ?? lookupAll,
    record: options.record,
    semaphore: new Semaphore(connections),
    upstreams: new Set(),
    dialMs,
    idleMs,
  }
  const clients = new Map<Duplex, ProxyClient>()
  const running = new Set<Promise<void>>()
  let closing: Promise<void> | undefined

  /** Tracks an exchange until it ends, so that `close()` can wait for it. */
  function run(client: ProxyClient, exchange: () => Promise<void>): void {
    client.begin()
    const task = exchange()
      .catch(() => client.socket.destroy())
      .then(() => {
        client.end()
        running.delete(task)
      })
    running.add(task)
  }

  function accept(socket: Duplex, exchange: (client: ProxyClient) => Promise<void>): void {
    const client = clients.get(socket)
    if (client === undefined || client.rejected || socket.destroyed) return
    client.rejected = client.overLimit
    run(client, () =>
      client.rejected ? reject(context, client, 'too many requests at once') : exchange(client),
    )
  }

  // This server never listens. It only parses HTTP on the sockets passed to `handle()`.
  const server = createServer({ requireHostHeader: false, keepAliveTimeout: headerMs, noDelay: true })
  server.maxHeadersCount = 0
  const onRequest = (request: IncomingMessage, response: ServerResponse) =>
    accept(request.socket, (client) => exchangePlain(context, client, request, response))
  server.on('request', onRequest)
  server.on('checkContinue', onRequest)
  server.on('checkExpectation', onRequest)
  server.on('connect', (request, socket, head) => {
    // Put bytes already read behind the CONNECT head back, before anything else reads from the socket.
    if (head.length > 0) socket.unshift(head)
    accept(socket, (client) => exchangeTunnel(context, client, request))
  })
  server.on('clientError', (error: MalformedError, socket) => {
    const client = clients.get(socket)
    if (client?.rejected) return
    if (client === undefined || !client.idle || error.rawPacket === undefined) return void socket.destroy()
    client.rejected = true
    run(client, () => refuseMalformed(context, client, error))
  })

  function handle(socket: Socket, { process }: { readonly process?: string } = {}): void {
    socket.on('error', () => undefined)
    if (closing !== undefined || socket.destroyed) return void socket.destroy()
    const client = new ProxyClient(socket, process, headerMs)
    clients.set(socket, client)
    socket.once('close', () => clients.delete(socket))
    // A tunnel needs half-open sockets, and the accepting server may not have enabled them.
    socket.allowHalfOpen = true
    // Connections above the limit get an error response, up to twice the limit; beyond that they are closed at once.
    if (clients.size > 2 * connections)
      run(client, () => reject(context, client, `more than ${2 * connections} connections at once`))
    else server.emit('connection', socket)
  }

  function close(): Promise<void> {
    closing ??= (async () => {
      options.signal?.removeEventListener('abort', close)
      for (const { socket } of clients.values()) socket.destroy()
      for (const upstream of context.upstreams) upstream.destroy()
      await Promise.all(running)
    })()
    return closing
  }

  if (options.signal?.aborted) void close()
  options.signal?.addEventListener('abort', close, { once: true })
  function allow(more: readonly string[]): void {
    list = readAllowList([...entries, ...more])
    entries.push(...more)
  }

  return { handle, close, allow }
}

function withDefaultLimits(given: EgressLimits) {
  parseAs('limits', localOptions.egressLimits, given)
  const { connections = 256, dialMs = 10_000, headerMs = 10_000, idleMs } = given
  return { connections, dialMs, headerMs, idleMs }
}
