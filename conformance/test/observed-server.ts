import { connect, type VitrineClient } from '@vitrine/client'
import type { Host } from '@vitrine/host'
import { createServer, type Listening, listen, type ServerLimits } from '@vitrine/server'

const token = 'observed-server-token'

/** One more server of a host, with limits of its own, which says how many readers it has just now. */
export class ObservedServer {
  readonly #listening: Listening
  readonly #clients: VitrineClient[] = []

  private constructor(listening: Listening) {
    this.#listening = listening
  }

  static async of(host: Host, limits: ServerLimits = {}): Promise<ObservedServer> {
    const tokens = [{ name: 'reader', token, access: 'full' }] as const
    return new ObservedServer(await listen(createServer({ host, tokens, limits })))
  }

  /** `onStream` is told of every connection for events, and of the cursor that it comes with. */
  connect(onStream: (after: string | null) => void = () => undefined): VitrineClient {
    const client = connect({
      url: this.#listening.url,
      token,
      fetch(input, init) {
        const { pathname, searchParams } = new URL(String(input))
        if (pathname.endsWith('/events')) onStream(searchParams.get('after'))
        return fetch(input, init)
      },
    })
    this.#clients.push(client)
    return client
  }

  async openStreams(): Promise<number> {
    const response = await fetch(`${this.#listening.url}/metrics`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return Number(/^vitrine_streams_open (\d+)$/m.exec(await response.text())?.[1])
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close()
    await this.#listening.close()
  }
}
