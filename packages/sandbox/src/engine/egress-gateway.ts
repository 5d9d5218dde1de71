import type { Server, Socket } from 'node:net'
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
import { Serial } from '@vitrine/protocol/primitives'
import type { Machine } from '../machine/machine.ts'
import { readSockets, socketOwners } from '../ports/sockets.ts'
import { withoutOperation } from '../without-operation.ts'
import { forwardToHost } from './forward-to-host.ts'

/** The port of the proxy on the sandbox's loopback, or the next one that is free there. */
const proxyPort = 3128
const proxyPorts = 20

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
  /** The servers of the host that each port leads to. */
  readonly #forwards = new Map<number, Target[]>()
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()
  readonly #changes = new Serial()
  #proxy: { readonly port: number; readonly server: EgressProxy } | undefined

  constructor(machine: Machine, journal: Journal, findProcess: ConnectionProcessLookup) {
    this.#machine = machine
    this.#journal = journal
    // A connection is allowed whether or not its process is known, so a failed lookup is ignored.
    this.#findProcess = (socket) => findProcess(socket).catch(() => undefined)
  }

  /** The proxy variables for every command. */
  get environment(): Readonly<Record<string, string>> {
    return this.#proxy === undefined ? {} : proxyEnvironment(this.#proxy.port)
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
      const added = this.notYetAllowed(entries).map((entry) => ({ entry, loopback: loopbackTarget(entry) }))
      // Before the proxy, which takes any other port.
      for (const { entry, loopback } of added) {
        if (loopback === undefined) continue
        await this.#forward(loopback)
        this.#proxy?.server.allow([entry])
        this.#allowed.add(entry)
      }
      for (const { entry, loopback } of added) {
        if (loopback !== undefined) continue
        await this.#allowThroughProxy(entry)
        this.#allowed.add(entry)
      }
    })
  }

  close(): Promise<void> {
    return this.#changes.run(async () => {
      for (const server of this.#servers) server.close()
      for (const socket of this.#sockets) socket.destroy()
      await this.#proxy?.server.close()
    })
  }

  async #allowThroughProxy(entry: string): Promise<void> {
    if (this.#proxy !== undefined) return this.#proxy.server.allow([entry])
    // A listed name may lead to a listed address of the loopback.
    const proxy = createEgressProxy({ allow: [...this.#allowed, entry], record: this.#record })
    const { port, server } = await this.#listenFrom(proxyPort)
    this.#proxy = { port, server: proxy }
    server.on('connection', (socket) => {
      void this.#findProcess(socket).then((processId) =>
        proxy.handle(socket, { ...(processId && { process: processId }) }),
      )
    })
  }

  /** Several loopback hosts with the same port share it inside. */
  async #forward(target: Target): Promise<void> {
    const known = this.#forwards.get(target.port)
    if (known !== undefined) {
      if (!known.some(({ host }) => host === target.host)) known.push(target)
      return
    }
    const targets = [target]
    const server = await this.#listen(target.port)
    this.#forwards.set(target.port, targets)
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      void this.#findProcess(socket).then((processId) =>
        forwardToHost(socket, targets, processId, this.#record),
      )
    })
  }

  /** The first free port from this one on that is not forwarded. */
  async #listenFrom(first: number): Promise<{ readonly port: number; readonly server: Server }> {
    for (let port = first; ; port += 1) {
      if (this.#forwards.has(port)) continue
      try {
        return { port, server: await this.#listen(port) }
      } catch (error) {
        if (port >= first + proxyPorts) throw error
      }
    }
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
