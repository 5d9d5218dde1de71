import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy to a server that can cut its connections. */
export class CuttingProxy {
  readonly url: string
  readonly #open: Set<Socket>
  readonly #close: () => Promise<void>

  private constructor(url: string, open: Set<Socket>, close: () => Promise<void>) {
    this.url = url
    this.#open = open
    this.#close = close
  }

  static async to(url: string): Promise<CuttingProxy> {
    const { hostname, port } = new URL(url)
    const open = new Set<Socket>()
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
      near.once('close', () => open.delete(near))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port: own } = server.address() as AddressInfo
    return new CuttingProxy(`http://127.0.0.1:${own}`, open, async () => {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    })
  }

  /** Cuts the connections that have delivered bytes, and returns their number. Others stay: a client that receives nothing backs off. */
  cut(): number {
    const used = [...this.#open].filter((socket) => socket.bytesWritten > 0)
    for (const socket of used) socket.destroy()
    return used.length
  }

  close(): Promise<void> {
    return this.#close()
  }
}
