import type { Server } from 'node:net'
import { constants } from 'node:os'
import { isVitrineError, VitrineError } from '@vitrine/protocol'

// Above what Linux gives to outgoing connections.
const lowest = 61_000
const highest = 65_535

const attempts = 32

/** A server on a port that nobody has: chosen here, since inside a sandbox nobody can be asked for a free one. */
export async function listenSomewhere(
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
  const message = `No port for the tools: ${attempts} between ${lowest} and ${highest} are taken.`
  throw new VitrineError('port_unavailable', message, { cause: last })
}

/** Different ones, in no order. */
function candidates(): Set<number> {
  const ports = new Set<number>()
  while (ports.size < attempts) ports.add(lowest + Math.floor(Math.random() * (highest - lowest + 1)))
  return ports
}

function isTaken(error: unknown): boolean {
  if (isVitrineError(error)) return error.details.errno === constants.errno.EADDRINUSE
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}
