import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy to a server of event streams. It can cut its connections. */
export class CuttingProxy {
  readonly url: string
  readonly #delivering: Set<Socket>
  readonly #close: () => Promise<void>

  private constructor(url: string, delivering: Set<Socket>, close: () => Promise<void>) {
    this.url = url
    this.#delivering = delivering
    this.#close = close
  }

  static async to(url: string): Promise<CuttingProxy> {
    const { hostname, port } = new URL(url)
    const open = new Set<Socket>()
    const delivering = new Set<Socket>()
    const server = createServer((near) => {
      const far = connect(Number(port), hostname)
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on('error', () => undefined)
        one.once('close', () => other.destroy())
        one.pipe(other)
      }
      open.add(near)
      far.on('data', (chunk) => {
        if (!near.destroyed && chunk.includes('\ndata:')) delivering.add(near)
      })
      near.once('close', () => {
        open.delete(near)
        delivering.delete(near)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port: own } = server.address() as AddressInfo
    return new CuttingProxy(`http://127.0.0.1:${own}`, delivering, async () => {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    })
  }

  /** The number of open connections that have delivered an event. */
  get delivering(): number {
    return this.#delivering.size
  }

  /** Cuts the connections that have delivered an event, and returns their number. Others stay: a client that receives no event backs off. */
  cut(): number {
    const cut = [...this.#delivering]
    for (const socket of cut) {
      socket.destroy()
      this.#delivering.delete(socket)
    }
    return cut.length
  }

  close(): Promise<void> {
    return this.#close()
  }
}
