import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { hostAndPort } from './registry-access.ts'

export interface ProxyDoor extends AsyncDisposable {
  /** The proxy as it is to be named inside. */
  readonly url: string
  readonly egress: string
}

/**
 * Brings this machine's own proxy onto its loopback, where a sandbox can be let through to it: what goes out through
 * one proxy cannot be told to go on through another.
 */
export async function openProxyDoor(proxy: URL): Promise<ProxyDoor> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket, other: Socket) => {
    sockets.add(socket)
    socket.on('error', () => other.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      other.destroy()
    })
  }
  const [host = '', port] = hostAndPort(proxy).split(/:(?=\d+$)/)
  const server = createServer((inside) => {
    const outside = connect({
      host: host.replace(/^\[|\]$/g, ''),
      port: Number(port),
      autoSelectFamily: true,
    })
    keep(inside, outside)
    keep(outside, inside)
    inside.pipe(outside).pipe(inside)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const own = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const named = new URL(proxy)
  named.host = own
  return {
    url: named.href,
    egress: own,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
