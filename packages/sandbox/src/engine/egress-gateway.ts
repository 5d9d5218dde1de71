import { connect, type Server, type Socket } from 'node:net'
import {
  addressKind,
  createEgressProxy,
  type EgressEvent,
  type EgressProxy,
  proxyEnvironment,
  readAllowList,
  readTarget,
  type Target,
} from '@vitrine/egress'
import type { Journal } from '@vitrine/journal'
import { randomHex } from '@vitrine/protocol'
import { Serial, systemErrorCode } from '@vitrine/protocol/primitives'
import type { Machine } from '../machine/machine.ts'
import { readSockets, socketOwners } from '../ports/sockets.ts'
import { withoutOperation } from '../without-operation.ts'

/** The port of the proxy on the sandbox's loopback. */
const proxyPort = 3128

/** Finds the id of the process that opened a connection from inside the sandbox, if it can be determined. */
export type ConnectionProcessLookup = (socket: Socket) => Promise<string | undefined>

/**
 * Lets a sandbox without network reach the listed hosts and ports and nothing else. Listed ports of the host's own
 * loopback appear on the sandbox's loopback under the same number; the rest goes through a proxy there.
 */
export class EgressGateway {
  readonly #machine: Machine
  readonly #journal: Journal
  readonly #findProcess: ConnectionProcessLookup
  readonly #allowed = new Set<string>()
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()
  readonly #changes = new Serial()
  #proxy: EgressProxy | undefined

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
  notYetAllowed(entries: readonly string[]): string[] {
    return entries.filter((entry) => !this.#allowed.has(entry))
  }

  /** Allows more targets. Entries that are allowed already keep their servers and connections. */
  allow(entries: readonly string[]): Promise<void> {
    // Throws for an invalid entry.
    readAllowList(entries, 'egress')
    return this.#changes.run(async () => {
      for (const entry of this.notYetAllowed(entries)) {
        const loopback = loopbackTarget(entry)
        if (loopback === undefined) await this.#allowThroughProxy(entry)
        else await this.#forward(loopback)
        this.#allowed.add(entry)
      }
    })
  }

  close(): Promise<void> {
    return this.#changes.run(async () => {
      for (const server of this.#servers) server.close()
      for (const socket of this.#sockets) socket.destroy()
      await this.#proxy?.close()
    })
  }

  async #allowThroughProxy(entry: string): Promise<void> {
    if (this.#proxy !== undefined) return this.#proxy.allow([entry])
    const proxy = createEgressProxy({ allow: [entry], record: this.#record })
    const server = await this.#listen(proxyPort)
    this.#proxy = proxy
    server.on('connection', (socket) => {
      void this.#findProcess(socket).then((processId) =>
        proxy.handle(socket, { ...(processId && { process: processId }) }),
      )
    })
  }

  async #forward(target: Target): Promise<void> {
    const server = await this.#listen(target.port)
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      void this.#findProcess(socket).then((processId) =>
        forwardToHost(socket, target, processId, this.#record),
      )
    })
  }

  async #listen(port: number): Promise<Server> {
    const server = await this.#machine.listen(port)
    this.#servers.push(server)
    server.unref()
    return server
  }

  /** Without an operation: a connection outlives the call during which it was opened. */
  readonly #record = async (event: EgressEvent) =>
    void (await withoutOperation(() => this.#journal.append([event])))
}

/** The target of an entry for the loopback; undefined for another entry. The host is kept as listed: another loopback address is another server. */
function loopbackTarget(entry: string): Target | undefined {
  const target = readTarget(entry)
  if (!('host' in target)) return undefined
  const isLoopback = target.host === 'localhost' || addressKind(target.host) === 'loopback'
  return isLoopback ? target : undefined
}

/** Records the connection before dialing the host; a connection that cannot be recorded is closed. */
async function forwardToHost(
  socket: Socket,
  { host, port }: Target,
  processId: string | undefined,
  record: (event: EgressEvent) => Promise<void>,
): Promise<void> {
  const common = {
    connection: `conn_${randomHex(16)}`,
    host,
    port,
    ...(processId && { process: processId }),
  }
  const began = performance.now()
  socket.on('error', () => undefined)
  try {
    await record({ type: 'network.allowed', data: { ...common, phase: 'opened' } })
  } catch {
    socket.destroy()
    return
  }
  const upstream = connect({ port, host, autoSelectFamily: true, allowHalfOpen: true })
  let connected = false
  let reason: string | undefined
  upstream.once('connect', () => {
    connected = true
  })
  upstream.on('error', (error) => {
    // The error of several attempts has a code, but no message.
    reason = systemErrorCode(error) ?? error.message
  })
  socket.pipe(upstream)
  upstream.pipe(socket)
  socket.once('close', () => upstream.destroy())
  upstream.once('close', async () => {
    const durationMs = performance.now() - began
    const { bytesRead: bytesIn, bytesWritten: bytesOut } = upstream
    const ending = { ...common, durationMs, ...(reason && { reason }) }
    // On record before the program inside sees that its connection has closed.
    if (!connected && reason !== undefined)
      await record({ type: 'network.failed', data: { ...common, durationMs, error: reason } }).catch(
        () => undefined,
      )
    socket.destroy()
    record({ type: 'network.allowed', data: { ...ending, phase: 'closed', bytesIn, bytesOut } }).catch(
      () => undefined,
    )
  })
}

/** Finds the id of the process of a socket in the kernel's socket table and the descriptors of the sandbox's processes. */
export async function processOfSocket(
  machine: Machine,
  socket: Socket,
  findProcess: (pid: number) => Promise<string | undefined>,
): Promise<string | undefined> {
  const { remotePort } = socket
  if (remotePort === undefined) return undefined
  const row = readSockets(machine.netFolder).find(
    ({ port, state }) => port === remotePort && state === 'established',
  )
  if (row === undefined) return undefined
  const pid = socketOwners(await machine.pids()).get(row.inode)
  return pid === undefined ? undefined : findProcess(pid)
}
