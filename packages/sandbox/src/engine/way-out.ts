import { connect, type Server, type Socket } from 'node:net'
import type { Journal } from '@vitrine/journal'
import { randomHex } from '@vitrine/protocol'
import type { Machine } from '../machine/machine.ts'
import { outside } from '../outside.ts'
import { readSockets, socketOwners } from '../ports/sockets.ts'
import { addressKind } from '../reach/address.ts'
import { readAllowList } from '../reach/allow-list.ts'
import { proxyEnvironment } from '../reach/environment.ts'
import type { ReachEvent } from '../reach/event.ts'
import { createReachProxy, type ReachProxy } from '../reach/proxy.ts'
import { readTarget, type Target } from '../reach/target.ts'

/** Where programs inside find the proxy. */
const proxyPort = 3128

export interface WayOut {
  /** For every command. */
  readonly environment: Readonly<Record<string, string>>
  close(): Promise<void>
}

/** Which process a connection from inside comes from, where it can be told. */
export type WhoConnects = (socket: Socket) => Promise<string | undefined>

/**
 * Lets a sandbox without network reach the listed hosts and ports and nothing else. Listed ports of the host's own
 * loopback appear on the sandbox's loopback under the same number; the rest goes through a proxy there.
 */
export async function openWayOut(
  machine: Machine,
  journal: Journal,
  reach: readonly string[],
  who: WhoConnects,
): Promise<WayOut> {
  readAllowList(reach)
  // Who it is can be told or not; that it is allowed does not hang on it.
  const asked: WhoConnects = (socket) => who(socket).catch(() => undefined)
  const record = async (event: ReachEvent) => void (await outside(() => journal.append([event])))
  const loopback = new Map(reach.flatMap(loopbackEntry))
  const servers: Server[] = []
  let proxy: ReachProxy | undefined
  if (reach.some((entry) => loopbackEntry(entry).length === 0)) {
    proxy = createReachProxy({ allow: reach, record })
    const server = await machine.listen(proxyPort)
    servers.push(server)
    const { handle } = proxy
    server.on(
      'connection',
      (socket) => void asked(socket).then((process) => handle(socket, { ...(process && { process }) })),
    )
  }
  const sockets = new Set<Socket>()
  for (const [port, host] of loopback) {
    const server = await machine.listen(port)
    servers.push(server)
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      void asked(socket).then((process) => forwardToHost(socket, { host, port }, process, record))
    })
  }
  for (const server of servers) server.unref()
  return {
    environment: proxy === undefined ? {} : proxyEnvironment(proxyPort),
    close: async () => {
      for (const server of servers) server.close()
      for (const socket of sockets) socket.destroy()
      await proxy?.close()
    },
  }
}

/** Its port and the very host that is listed: another address of the loopback is another server. */
function loopbackEntry(entry: string): [port: number, host: string][] {
  const target = readTarget(entry)
  if (!('host' in target)) return []
  const own = target.host === 'localhost' || addressKind(target.host) === 'loopback'
  return own ? [[target.port, target.host]] : []
}

/** Recorded before it is dialed; whoever cannot be recorded does not get through. */
async function forwardToHost(
  socket: Socket,
  { host, port }: Target,
  process: string | undefined,
  record: (event: ReachEvent) => Promise<void>,
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

/** By the kernel's lists of sockets and of who holds them. */
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
