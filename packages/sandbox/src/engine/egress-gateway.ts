import { connect, type Server, type Socket } from 'node:net'
import type { Journal } from '@vitrine/journal'
import { randomHex } from '@vitrine/protocol'
import { addressKind } from '../egress/address.ts'
import { readAllowList } from '../egress/allow-list.ts'
import { proxyEnvironment } from '../egress/environment.ts'
import type { EgressEvent } from '../egress/event.ts'
import { createEgressProxy, type EgressProxy } from '../egress/proxy.ts'
import { readTarget, type Target } from '../egress/target.ts'
import type { Machine } from '../machine/machine.ts'
import { readSockets, socketOwners } from '../ports/sockets.ts'
import { withoutOperation } from '../without-operation.ts'

/** The port of the proxy on the sandbox's loopback. */
const proxyPort = 3128

/** Finds the process that opened a connection from inside the sandbox, if it can be determined. */
export type ConnectionProcessLookup = (socket: Socket) => Promise<string | undefined>

/**
 * Lets a sandbox without network reach the listed hosts and ports and nothing else. Listed ports of the host's own
 * loopback appear on the sandbox's loopback under the same number; the rest goes through a proxy there.
 */
export class EgressGateway {
  readonly #machine: Machine
  readonly #journal: Journal
  readonly #findProcess: ConnectionProcessLookup
  readonly #listed = new Set<string>()
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()
  #proxy: EgressProxy | undefined
  #opening: Promise<void> = Promise.resolve()

  constructor(machine: Machine, journal: Journal, findProcess: ConnectionProcessLookup) {
    this.#machine = machine
    this.#journal = journal
    // A connection is allowed whether or not its process is known, so a failed lookup is ignored.
    this.#findProcess = (socket) => findProcess(socket).catch(() => undefined)
  }

  /** The proxy variables for every command. */
  get environment(): Readonly<Record<string, string>> {
    return this.#proxy === undefined ? {} : proxyEnvironment(proxyPort)
  }

  /** The entries that are not allowed yet. */
  missing(entries: readonly string[]): string[] {
    return entries.filter((entry) => !this.#listed.has(entry))
  }

  /** Allows more targets. Entries that are allowed already keep their servers and connections. */
  allow(entries: readonly string[]): Promise<void> {
    readAllowList(entries, 'egress')
    const opening = this.#opening.then(async () => {
      for (const entry of this.missing(entries)) {
        const [loopback] = loopbackEntry(entry)
        if (loopback === undefined) await this.#allowThroughProxy(entry)
        else await this.#forward(...loopback)
        this.#listed.add(entry)
      }
    })
    this.#opening = opening.catch(() => undefined)
    return opening
  }

  async close(): Promise<void> {
    await this.#opening
    for (const server of this.#servers) server.close()
    for (const socket of this.#sockets) socket.destroy()
    await this.#proxy?.close()
  }

  async #allowThroughProxy(entry: string): Promise<void> {
    if (this.#proxy !== undefined) return this.#proxy.allow([entry])
    const proxy = createEgressProxy({ allow: [entry], record: this.#record })
    const server = await this.#listen(proxyPort)
    this.#proxy = proxy
    server.on('connection', (socket) => {
      void this.#findProcess(socket).then((process) => proxy.handle(socket, { ...(process && { process }) }))
    })
  }

  async #forward(port: number, host: string): Promise<void> {
    const server = await this.#listen(port)
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      void this.#findProcess(socket).then((process) =>
        forwardToHost(socket, { host, port }, process, this.#record),
      )
    })
  }

  async #listen(port: number): Promise<Server> {
    const server = await this.#machine.listen(port)
    this.#servers.push(server)
    server.unref()
    return server
  }

  readonly #record = async (event: EgressEvent) =>
    void (await withoutOperation(() => this.#journal.append([event])))
}

/** The port and host of a loopback entry. The host is kept as listed: another loopback address is another server. */
function loopbackEntry(entry: string): [port: number, host: string][] {
  const target = readTarget(entry)
  if (!('host' in target)) return []
  const loopback = target.host === 'localhost' || addressKind(target.host) === 'loopback'
  return loopback ? [[target.port, target.host]] : []
}

/** Records the connection before dialing the host; a connection that cannot be recorded is closed. */
async function forwardToHost(
  socket: Socket,
  { host, port }: Target,
  process: string | undefined,
  record: (event: EgressEvent) => Promise<void>,
): Promise<void> {
  const facts = { connection: `conn_${randomHex(16)}`, host, port, ...(process && { process }) }
  const began = performance.now()
  socket.on('error', () => undefined)
  try {
    await record({ type: 'network.allowed', data: { ...facts, phase: 'opened' } })
  } catch {
    socket.destroy()
    return
  }
  const upstream = connect({ port, host, autoSelectFamily: true, allowHalfOpen: true })
  let reason: string | undefined
  upstream.on('error', (error) => {
    reason = error.message
    socket.destroy()
  })
  socket.pipe(upstream)
  upstream.pipe(socket)
  socket.once('close', () => upstream.destroy())
  upstream.once('close', () => {
    socket.destroy()
    const { bytesRead: bytesIn, bytesWritten: bytesOut } = upstream
    const durationMs = performance.now() - began
    const data = {
      ...facts,
      phase: 'closed',
      bytesIn,
      bytesOut,
      durationMs,
      ...(reason && { reason }),
    } as const
    record({ type: 'network.allowed', data }).catch(() => undefined)
  })
}

/** Finds the process of a socket in the kernel's socket table and the descriptors of the sandbox's processes. */
export async function processOfSocket(
  machine: Machine,
  socket: Socket,
  processOf: (pid: number) => string | undefined,
): Promise<string | undefined> {
  const { remotePort } = socket
  if (remotePort === undefined) return undefined
  const row = readSockets(machine.netFolder).find(
    ({ port, state }) => port === remotePort && state === 'established',
  )
  if (row === undefined) return undefined
  const pid = socketOwners(await machine.pids()).get(row.inode)
  return pid === undefined ? undefined : processOf(pid)
}
