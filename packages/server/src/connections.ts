import type { Socket } from 'node:net'
import { toProblem, VitrineError } from '@vitrine/protocol'
import { onAuthenticated } from './guard/authenticated.ts'
import { sendRawProblem } from './responses/raw-problem.ts'

/**
 * The connections of a listener. Those that have not shown a token share a part of all connections: beyond it the oldest
 * of them is closed, first those without a request in progress, so that they cannot lock out the holders of a token.
 */
export class Connections {
  readonly #all = new Set<Socket>()
  /** In the order of their arrival. */
  readonly #unauthenticated = new Set<Socket>()
  readonly #busy = new Set<Socket>()
  readonly #maxUnauthenticated: number

  constructor(maxUnauthenticated: number) {
    this.#maxUnauthenticated = maxUnauthenticated
  }

  add(socket: Socket): void {
    this.#all.add(socket)
    this.#unauthenticated.add(socket)
    onAuthenticated(socket, () => this.#unauthenticated.delete(socket))
    socket.once('close', () => {
      this.#all.delete(socket)
      this.#unauthenticated.delete(socket)
    })
    if (this.#unauthenticated.size > this.#maxUnauthenticated) this.#closeOldest()
  }

  /** Notes that a request is in progress, until the returned function is called. */
  begin(socket: Socket): () => void {
    this.#busy.add(socket)
    return () => void this.#busy.delete(socket)
  }

  destroyAll(): void {
    for (const socket of this.#all) socket.destroy()
  }

  #closeOldest(): void {
    const sockets = [...this.#unauthenticated]
    const socket = sockets.find((one) => !this.#busy.has(one)) ?? sockets[0]
    if (socket === undefined) return
    this.#unauthenticated.delete(socket)
    // A client that has begun its headers gets a reason; any other could take a response for that of a later request.
    if (socket.bytesRead === 0 || socket.bytesWritten > 0 || !socket.writable) return void socket.destroy()
    sendRawProblem(socket, { ...toProblem(tooMany(this.#maxUnauthenticated)), status: 408 })
  }
}

function tooMany(limit: number): VitrineError {
  return new VitrineError(
    'too_many_connections',
    `More than ${limit} connections have not sent a token; this one was the oldest of them.`,
  )
}
