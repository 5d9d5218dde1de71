import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { hostAndPort } from './registry-access.ts'

export interface ProxyForwarder extends AsyncDisposable {
  /** The URL of the proxy for use inside the sandbox. */
  readonly url: string
  readonly egress: string
}

/**
 * Forwards a loopback port to the proxy of this machine. The sandbox's egress proxy cannot chain to another proxy, but
 * it can allow this port, and npm uses it as its proxy.
 */
export async function openProxyForwarder(proxy: URL): Promise<ProxyForwarder> {
  const sockets = new Set<Socket>()
  const track = (socket: Socket, other: Socket) => {
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
    track(inside, outside)
    track(outside, inside)
    inside.pipe(outside).pipe(inside)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const own = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const url = new URL(proxy)
  url.host = own
  return {
    url: url.href,
    egress: own,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
