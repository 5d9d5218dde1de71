import type { Server } from 'node:net'
import { constants } from 'node:os'
import { isVitrineError, VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'

// Above the default ephemeral port range of Linux.
const lowestPort = 61_000
const highestPort = 65_535

const attempts = 32

/** Listens on a random free port. Port 0 is not an option: a sandbox cannot report which port it picked. */
export async function listenOnFreePort(
  listen: (port: number) => Promise<Server>,
): Promise<{ readonly server: Server; readonly port: number }> {
  let last: unknown
  for (const port of candidates()) {
    try {
      return { server: await listen(port), port }
    } catch (error) {
      if (!isTaken(error)) throw error
      last = error
    }
  }
  const message = `No free port for the tools: ${attempts} ports tried between ${lowestPort} and ${highestPort} are in use.`
  throw new VitrineError('port_unavailable', message, { cause: last })
}

/** Distinct random ports. */
function candidates(): Set<number> {
  const ports = new Set<number>()
  while (ports.size < attempts)
    ports.add(lowestPort + Math.floor(Math.random() * (highestPort - lowestPort + 1)))
  return ports
}

function isTaken(error: unknown): boolean {
  if (isVitrineError(error)) return error.details.errno === constants.errno.EADDRINUSE
  return systemErrorCode(error) === 'EADDRINUSE'
}
