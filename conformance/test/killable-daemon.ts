import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type VitrineClient } from '@vitrine/client'
import { dataFolder, serve, type TestDaemon, vitrine } from '../../packages/cli/test/vitrine-process.ts'
import { between, type Random } from '../src/crash/random.ts'

const token = 'killable-daemon-token'

/** `vitrine serve` in a separate process that can be killed and started again with the same data, port and token. */
export class KillableDaemon {
  readonly url: string
  readonly #data = dataFolder()
  readonly #flags: readonly string[]
  #running: TestDaemon | undefined

  private constructor(port: number, isolation: string) {
    this.url = `http://127.0.0.1:${port}`
    this.#flags = ['--port', String(port), '--isolation', isolation]
  }

  /** Chooses a port; the daemon is not started yet. */
  static async at(isolation: 'none' | 'bubblewrap', random: Random): Promise<KillableDaemon> {
    return new KillableDaemon(await stablePort(random), isolation)
  }

  connect(): VitrineClient {
    return connect({ url: this.url, token })
  }

  /** Resolves when the daemon listens. */
  async start(): Promise<void> {
    this.#running = await serve(this.#data, this.#flags, { env: { VITRINE_TOKEN: token } })
  }

  async kill(): Promise<void> {
    const { process } = this.#running!
    process.signal('SIGKILL')
    await process.exit()
  }

  /** Starts the daemon and kills it after a delay: while it starts, recovers, or has just begun to listen. */
  async killDuringStart(milliseconds: number): Promise<void> {
    const args = ['serve', '--json', '--data', this.#data, ...this.#flags]
    const daemon = vitrine(args, { env: { VITRINE_TOKEN: token } })
    await sleep(milliseconds)
    daemon.signal('SIGKILL')
    await daemon.exit()
  }

  fetch(path: string): Promise<Response> {
    return fetch(`${this.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  }
}

/** A free port below the kernel's ephemeral range, so that no other process takes it between two starts. */
async function stablePort(random: Random): Promise<number> {
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
