import { createServer, type Server, type Socket } from 'node:net'

/** Pipes two sockets into each other until either closes. */
export function connectSockets(one: Socket, other: Socket): void {
  one.pipe(other)
  other.pipe(one)
  for (const [socket, peer] of [
    [one, other],
    [other, one],
  ] as const) {
    socket.on('error', () => peer.destroy())
    socket.once('close', () => peer.destroy())
  }
}

/** Forwards ports of the host's loopback to ports of a sandbox that has its own network. */
export class Forwards {
  readonly #connect: (port: number) => Promise<Socket>
  readonly #servers = new Map<number, Promise<Server>>()
  readonly #sockets = new Set<Socket>()

  constructor(connect: (port: number) => Promise<Socket>) {
    this.#connect = connect
  }

  /** The host's port that forwards to this port of the sandbox. */
  async hostPort(port: number): Promise<number> {
    let server = this.#servers.get(port)
    if (server === undefined) {
      server = this.#open(port)
      this.#servers.set(port, server)
    }
    const address = (await server).address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  async close(): Promise<void> {
    const servers = await Promise.allSettled(this.#servers.values())
    this.#servers.clear()
    for (const socket of this.#sockets) socket.destroy()
    for (const one of servers) if (one.status === 'fulfilled') one.value.close()
  }

  #open(port: number): Promise<Server> {
    const server = createServer({ allowHalfOpen: true }, (socket) => void this.#forward(socket, port))
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, '127.0.0.1', () => {
        server.unref()
        resolve(server)
      })
    })
  }

  async #forward(socket: Socket, port: number): Promise<void> {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    socket.on('error', () => undefined)
    try {
      const inner = await this.#connect(port)
      if (socket.destroyed) inner.destroy()
      else connectSockets(socket, inner)
    } catch {
      socket.destroy()
    }
  }
}
