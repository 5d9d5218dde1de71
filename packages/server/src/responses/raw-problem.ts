import type { Duplex } from 'node:stream'
import type { Problem } from '@vitrine/protocol'

/** A problem on a connection that has no response: it never was a request, or asked for another protocol. */
export function sendRawProblem(socket: Duplex, problem: Problem): void {
  const body = JSON.stringify(problem)
  // Nobody else would close it: the other end may leave its half open for ever.
  socket.once('finish', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${problem.status} Refused\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}
