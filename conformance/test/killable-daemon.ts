import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type VitrineClient } from '@vitrine/client'
import { dataFolder, serve, type TestDaemon, vitrine } from '../../packages/cli/test/vitrine-process.ts'
import { between, type Random } from '../src/crash/random.ts'

const token = 'killable-daemon-token'

/** `vitrine serve` as a child process that is killed and restarted with the same data, port and token. */
export class KillableDaemon {
  readonly url: string
  readonly #data = dataFolder()
  readonly #flags: readonly string[]
  #running: TestDaemon | undefined

  private constructor(port: number, isolation: string) {
    this.url = `http://127.0.0.1:${port}`
    this.#flags = ['--port', String(port), '--isolation', isolation]
  }

  /** Creates a daemon that is not started yet. */
  static async at(isolation: 'none' | 'bubblewrap', random: Random): Promise<KillableDaemon> {
    return new KillableDaemon(await unusedPort(random), isolation)
  }

  connect(): VitrineClient {
    return connect({ url: this.url, token })
  }

  /** Resolves once it listens. */
  async start(): Promise<void> {
    this.#running = await serve(this.#data, this.#flags, { env: { VITRINE_TOKEN: token } })
  }

  async kill(): Promise<void> {
    const { process } = this.#running!
    process.signal('SIGKILL')
    await process.exit()
  }

  /** Starts a daemon and kills it while it starts, recovers or begins to listen. */
  async killDuringStart(milliseconds: number): Promise<void> {
    const args = ['serve', '--json', '--data', this.#data, ...this.#flags]
    const starting = vitrine(args, { env: { VITRINE_TOKEN: token } })
    await sleep(milliseconds)
    starting.signal('SIGKILL')
    await starting.exit()
  }

  fetch(path: string): Promise<Response> {
    return fetch(`${this.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  }
}

/** A port below the kernel's ephemeral range, so that it is still free after each kill. */
async function unusedPort(random: Random): Promise<number> {
  for (;;) {
    const port = between(random, 12_000, 30_000)
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer()
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
