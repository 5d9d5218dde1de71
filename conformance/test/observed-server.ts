import { connect, type VitrineClient } from '@vitrine/client'
import type { Host } from '@vitrine/host'
import { createServer, type Listening, listen, type ServerLimits } from '@vitrine/server'

const token = 'observed-server-token'

/** An additional server of a host with its own limits, which reports the number of its open streams. */
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

  /** `onStream` is called for every request for events, with its cursor. */
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
