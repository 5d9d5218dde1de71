import { createServer, type Server } from 'node:http'
import type { Capabilities } from '@vitrine/protocol'
import type { MakeSandbox, SandboxTestOptions } from '../kit.ts'

type Network = Capabilities['network'][number]

/** Returns the claimed networks that work, by whether a sandbox reaches both of two host servers, one, or none. */
export async function measureNetwork(
  make: MakeSandbox,
  claimed: Capabilities['network'],
): Promise<Capabilities['network']> {
  const [listed, other] = [await listen('listed'), await listen('other')]
  const setups: Readonly<Record<Network, { options: SandboxTestOptions; reached: string }>> = {
    none: { options: { network: 'none' }, reached: '' },
    host: { options: { network: 'host' }, reached: 'listed other' },
    egress: { options: { egress: [`localhost:${listed.port}`] }, reached: 'listed' },
  }
  const available: Network[] = []
  try {
    for (const kind of claimed) {
      const { options, reached } = setups[kind]
      const under = await make(options)
      try {
        const get = (port: number) => `curl -s -m 3 --noproxy '*' http://127.0.0.1:${port}/; echo`
        const { stdout } = await under.sandbox.exec(`${get(listed.port)}; ${get(other.port)}`)
        if (stdout.split('\n').filter(Boolean).join(' ') === reached) available.push(kind)
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
  return available
}

function listen(text: string): Promise<{ server: Server; port: number }> {
  const server = createServer((_, response) => response.end(text))
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve({ server, port: typeof address === 'object' && address !== null ? address.port : 0 })
    })
  })
}
