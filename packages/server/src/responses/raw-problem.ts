import type { Duplex } from 'node:stream'
import type { Problem } from '@vitrine/protocol'

/** Writes a problem to a socket without a response object: for malformed requests and refused upgrades. */
export function sendRawProblem(socket: Duplex, problem: Problem): void {
  const body = JSON.stringify(problem)
  // `end` closes our half only; the client may leave its half open for ever.
  socket.once('finish', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${problem.status} Refused\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}
