import type { Socket } from 'node:net'
import { toProblem, VitrineError } from '@vitrine/protocol'
import { onAuthenticated } from './guard/authenticated.ts'
import type { Caller } from './guard/caller.ts'
import { sendRawProblem } from './responses/raw-problem.ts'

/**
 * The connections of a listener. Those that have not shown a token have a quarter of all connections. Beyond it, and when
 * there are no connections left, the oldest of them is closed, whatever it does: so a newcomer always has the time to show
 * its token, and holders of one cannot be locked out. Those with read access have half of all connections, so that they
 * cannot lock out those with full access.
 */
export class Connections {
  readonly #all = new Set<Socket>()
  /** In the order of their arrival. */
  readonly #unauthenticated = new Set<Socket>()
  readonly #max: number
  readonly #maxUnauthenticated: number
  /** Those that have shown no other token than one with read access. */
  readonly #reading = new Set<Socket>()
  readonly #maxReading: number

  constructor(max: number) {
    this.#max = max
    this.#maxUnauthenticated = Math.max(1, Math.floor(max / 4))
    this.#maxReading = Math.max(1, Math.floor(max / 2))
  }

  add(socket: Socket): void {
    if (this.#all.size >= this.#max && !this.#closeOldest()) {
      socket.destroy()
      return
    }
    this.#all.add(socket)
    this.#unauthenticated.add(socket)
    onAuthenticated(socket, (access) => this.#authenticated(socket, access))
    socket.once('close', () => {
      this.#all.delete(socket)
      this.#unauthenticated.delete(socket)
      this.#reading.delete(socket)
    })
    if (this.#unauthenticated.size > this.#maxUnauthenticated) this.#closeOldest()
  }

  #authenticated(socket: Socket, access: Caller['access']): void {
    if (access === 'full') this.#reading.delete(socket)
    else if (this.#reading.size < this.#maxReading) this.#reading.add(socket)
    else if (!this.#reading.has(socket)) throw tooManyReading(this.#maxReading)
    this.#unauthenticated.delete(socket)
  }

  destroyAll(): void {
    for (const socket of this.#all) socket.destroy()
  }

  /** Closes the oldest connection without a token; false if there is none. */
  #closeOldest(): boolean {
    const [socket] = this.#unauthenticated
    if (socket === undefined) return false
    this.#unauthenticated.delete(socket)
    this.#all.delete(socket)
    // A client that has begun its headers gets a reason; any other could take a response for that of a later request.
    if (socket.bytesRead === 0 || socket.bytesWritten > 0 || !socket.writable) socket.destroy()
    else sendRawProblem(socket, { ...toProblem(tooMany(this.#maxUnauthenticated)), status: 408 })
    return true
  }
}

function tooManyReading(limit: number): VitrineError {
  return new VitrineError(
    'too_many_connections',
    `There are ${limit} connections of tokens with read access and of previews, which is their limit.`,
  )
}

function tooMany(limit: number): VitrineError {
  return new VitrineError(
    'too_many_connections',
    `There are too many connections, and this one is the oldest that has sent no token; at most ${limit} such stay open.`,
  )
}
