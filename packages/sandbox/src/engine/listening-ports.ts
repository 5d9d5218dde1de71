import type { PortInfo } from '@vitrine/protocol'
import { readSockets, socketOwners } from '../ports/sockets.ts'
import type { EngineCore, Running } from './core.ts'

/** The ports on which processes of the sandbox listen, in order. */
export async function listeningPorts(
  core: Pick<EngineCore, 'processOf'>,
  { machine }: Pick<Running, 'machine'>,
): Promise<PortInfo[]> {
  const owners = socketOwners(await machine.pids())
  const found = new Map<number, PortInfo>()
  for (const { port, address, state, inode } of readSockets(machine.netFolder)) {
    const pid = owners.get(inode)
    // A socket that no process inside holds belongs to the host: to a program on a shared loopback, or to the egress
    // gateway.
    if (state !== 'listening' || found.has(port) || pid === undefined) continue
    const process = core.processOf(pid)
    found.set(port, { port, address, ...(process !== undefined && { process }) })
  }
  return [...found.values()].sort((a, b) => a.port - b.port)
}
