import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { readAllowList } from './allow-list.ts'
import type { Reach } from './attempt.ts'
import type { RecordReach } from './event.ts'
import { exchangePlain, exchangeTunnel, type MalformedError, refuseMalformed, reject } from './exchange.ts'
import { type EgressLimits, reachLimits } from './limits.ts'
import { ProxyClient } from './proxy-client.ts'
import { type Lookup, lookupAll } from './resolve.ts'
import { Semaphore } from './semaphore.ts'

export interface ReachProxyOptions {
  /** Exactly these hosts with exactly these ports: `'registry.example:443'`. */
  readonly allow: readonly string[]
  readonly lookup?: Lookup
  readonly record: RecordReach
  readonly limits?: EgressLimits
  /** Closes the proxy. */
  readonly signal?: AbortSignal
}

export interface EgressProxy {
  /** More that may be reached from now on. */
  allow(entries: readonly string[]): void
  /** Takes over an accepted connection from inside the sandbox. */
  handle(socket: Socket, from?: { readonly process?: string }): void
  /** Ends every connection; resolves once all endings are recorded. */
  close(): Promise<void>
}

/**
 * The only way out of a sandbox without network: an HTTP proxy that knows a list and a journal.
 *
 * @example
 * const proxy = createEgressProxy({ allow: ['registry.example:443'], record: (event) => append(event) })
 * createServer((socket) => proxy.handle(socket)).listen(port, '127.0.0.1')
 */
export function createEgressProxy(options: ReachProxyOptions): EgressProxy {
  const { dialMs, headerMs, idleMs, connections } = reachLimits(options.limits ?? {})
  let listed = [...options.allow]
  let list = readAllowList(listed)
  const egress: Reach = {
    allow: { has: (target) => list.has(target) },
    lookup: options.lookup ?? lookupAll,
    record: options.record,
    seats: new Semaphore(connections),
    upstreams: new Set(),
    dialMs,
    idleMs,
  }
  const guests = new Map<Duplex, ProxyClient>()
  const running = new Set<Promise<void>>()
  let closing: Promise<void> | undefined

  /** Keeps what is under way known until it is over. */
  function run(guest: ProxyClient, exchange: () => Promise<void>): void {
    guest.begin()
    const task = exchange()
      .catch(() => guest.socket.destroy())
      .then(() => {
        guest.end()
        running.delete(task)
      })
    running.add(task)
  }

  function accept(socket: Duplex, exchange: (guest: ProxyClient) => Promise<void>): void {
    const guest = guests.get(socket)
    if (guest === undefined || guest.rejected || socket.destroyed) return
    guest.rejected = guest.overLimit
    run(guest, () => (guest.rejected ? reject(egress, guest, 'too many requests at once') : exchange(guest)))
  }

  // Never listens: it lends its parser to the sockets that it is given.
  const server = createServer({ requireHostHeader: false, keepAliveTimeout: headerMs, noDelay: true })
  server.maxHeadersCount = 0
  const onRequest = (request: IncomingMessage, response: ServerResponse) =>
    accept(request.socket, (guest) => exchangePlain(egress, guest, request, response))
  server.on('request', onRequest)
  server.on('checkContinue', onRequest)
  server.on('checkExpectation', onRequest)
  server.on('connect', (request, socket, head) => {
    // Back in front of what follows, before anything can read that.
    if (head.length > 0) socket.unshift(head)
    accept(socket, (guest) => exchangeTunnel(egress, guest, request))
  })
  server.on('clientError', (error: MalformedError, socket) => {
    const guest = guests.get(socket)
    if (guest?.rejected) return
    if (guest === undefined || !guest.idle || error.rawPacket === undefined) return void socket.destroy()
    guest.rejected = true
    run(guest, () => refuseMalformed(egress, guest, error))
  })

  function handle(socket: Socket, { process }: { readonly process?: string } = {}): void {
    socket.on('error', () => undefined)
    if (closing !== undefined || socket.destroyed) return void socket.destroy()
    const guest = new ProxyClient(socket, process, headerMs)
    guests.set(socket, guest)
    socket.once('close', () => guests.delete(socket))
    // Whoever accepted it may not have asked for this; a tunnel needs it.
    socket.allowHalfOpen = true
    // Those above the limit are still told why, up to a point.
    if (guests.size > 2 * connections)
      run(guest, () => reject(egress, guest, `more than ${2 * connections} connections at once`))
    else server.emit('connection', socket)
  }

  function close(): Promise<void> {
    closing ??= (async () => {
      options.signal?.removeEventListener('abort', close)
      for (const { socket } of guests.values()) socket.destroy()
      for (const upstream of egress.upstreams) upstream.destroy()
      await Promise.all(running)
    })()
    return closing
  }

  if (options.signal?.aborted) void close()
  options.signal?.addEventListener('abort', close, { once: true })
  function allow(entries: readonly string[]): void {
    list = readAllowList([...listed, ...entries])
    listed = [...listed, ...entries]
  }

  return { handle, close, allow }
}
