import { createServer, type Server } from 'node:http'
import type { Capabilities } from '@vitrine/protocol'
import type { MakeSandbox, SandboxWish } from '../setting.ts'

type Network = Capabilities['network'][number]

/** Which of the networks that are claimed can be had: two servers of this host are reached, one of them, or none. */
export async function measureNetwork(
  make: MakeSandbox,
  claimed: Capabilities['network'],
): Promise<Capabilities['network']> {
  const [listed, other] = [await listen('listed'), await listen('other')]
  const wishes: Readonly<Record<Network, { wish: SandboxWish; reached: string }>> = {
    none: { wish: { network: 'none' }, reached: '' },
    host: { wish: { network: 'host' }, reached: 'listed other' },
    egress: { wish: { egress: [`localhost:${listed.port}`] }, reached: 'listed' },
  }
  const found: Network[] = []
  try {
    for (const kind of claimed) {
      const { wish, reached } = wishes[kind]
      const under = await make(wish)
      try {
        const get = (port: number) => `curl -s -m 3 --noproxy '*' http://127.0.0.1:${port}/; echo`
        const { stdout } = await under.sandbox.exec(`${get(listed.port)}; ${get(other.port)}`)
        if (stdout.split('\n').filter(Boolean).join(' ') === reached) found.push(kind)
      } finally {
        await under.close()
      }
    }
  } finally {
    for (const { server } of [listed, other]) {
      server.closeAllConnections()
      server.close()
    }
  }
  return found
}

function listen(answer: string): Promise<{ server: Server; port: number }> {
  const server = createServer((_, response) => response.end(answer))
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve({ server, port: typeof address === 'object' && address !== null ? address.port : 0 })
    })
  })
}
