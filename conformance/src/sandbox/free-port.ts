import { once } from 'node:events'
import { createServer } from 'node:net'

const given = new Set<number>()

/** A free loopback port that no earlier call returned: in a sandbox with its own network, an earlier one may be in use. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  server.close()
  await once(server, 'close')
  if (given.has(port)) return freePort()
  given.add(port)
  return port
}
