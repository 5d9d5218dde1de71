import { VitrineProcess } from '../../packages/cli/test/vitrine-process.ts'
import {
  type AttackDriver,
  type AttackedDaemon,
  type AttackedOptions,
  attackingAgent,
  type SandboxUnderTest,
} from '../src/index.ts'
import { InProcessDaemon } from './daemons.ts'
import { daemonSandbox } from './remote-sandboxes.ts'
import { smallHost } from './small-host.ts'

/** Sandboxes of one daemon, over HTTP. */
export class RemoteAttacks implements AttackDriver {
  readonly #isolation: 'none' | 'bubblewrap'
  readonly #maxConnections: number
  readonly smallHost = smallHost
  #opening: Promise<InProcessDaemon> | undefined

  constructor(isolation: 'none' | 'bubblewrap', { maxConnections = 200 } = {}) {
    this.#isolation = isolation
    this.#maxConnections = maxConnections
  }

  #open(): Promise<InProcessDaemon> {
    this.#opening ??= InProcessDaemon.open({
      agents: [attackingAgent],
      maxConnections: this.#maxConnections,
    })
    return this.#opening
  }

  async make(options: AttackedOptions = {}): Promise<SandboxUnderTest> {
    return daemonSandbox(await this.#open(), this.#isolation, options)
  }

  async daemon(): Promise<AttackedDaemon> {
    const daemon = await this.#open()
    const { url, token, readToken } = daemon
    return {
      ...{ url, token, readToken, maxConnections: this.#maxConnections, agent: attackingAgent.name },
      restart: () => daemon.restart(),
      show: (sandbox, until) => shown(url, token, sandbox, until),
    }
  }

  async close(): Promise<void> {
    await (await this.#opening)?.close()
  }
}

/** Returns the output of `vitrine events tail` for a sandbox. */
async function shown(url: string, token: string, sandbox: string, until: string): Promise<string> {
  const run = new VitrineProcess(['events', 'tail', '--sandbox', sandbox, '--url', url, '--token', token], {})
  try {
    await run.says(new RegExp(`${until}.*\\n`))
    return run.stdout
  } finally {
    await run.end()
  }
}
