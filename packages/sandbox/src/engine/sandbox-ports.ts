import { setTimeout as sleep } from 'node:timers/promises'
import type { Journal } from '@vitrine/journal'
import {
  type PortAddress,
  type PortInfo,
  type PortPreview,
  type Ports,
  VitrineError,
} from '@vitrine/protocol'
import { checkOptions, hostOptions } from '@vitrine/protocol/options'
import { requirePort } from '@vitrine/protocol/primitives'
import type { EngineCore } from './core.ts'
import { listeningPorts } from './listening-ports.ts'

const pollMs = 25
const defaultWaitMs = 30_000

/** The listening ports of one sandbox. */
export class SandboxPorts implements Ports {
  readonly #core: EngineCore
  readonly #journal: Journal

  constructor(core: EngineCore, journal: Journal) {
    this.#core = core
    this.#journal = journal
  }

  list(): Promise<readonly PortInfo[]> {
    return this.#journal.operate('port_list', {}, async () => this.#listening(), {
      finish: (found) => ({ count: found.length }),
    })
  }

  resolve(port: number): Promise<PortAddress> {
    return this.#journal.operate(
      'resolve_exposed_port',
      { port: requirePort(port) },
      () => this.#resolve(port),
      {
        finish: ({ host }) => ({ port, address: host }),
      },
    )
  }

  async preview(port: number): Promise<PortPreview> {
    const { url } = await this.resolve(port)
    return { url }
  }

  async waitFor(
    port: number,
    options: { timeoutMs?: number; signal?: AbortSignal } = {},
  ): Promise<PortAddress> {
    checkOptions('ports.waitFor', hostOptions.waitForPort, options)
    const { timeoutMs = defaultWaitMs, signal } = options
    const wait = async () => {
      const until = performance.now() + timeoutMs
      for (;;) {
        signal?.throwIfAborted()
        if ((await this.#listening()).some((one) => one.port === port)) return this.#resolve(port)
        if (performance.now() > until) {
          const message = `Nothing listened on port ${port} of the sandbox within ${timeoutMs} ms.`
          throw new VitrineError('timeout', message, { details: { port } })
        }
        await sleep(pollMs, undefined, { ...(signal && { signal }) })
      }
    }
    return this.#journal.operate('port_wait', { port: requirePort(port), timeoutMs }, wait, {
      finish: ({ host }) => ({ port, address: host }),
      ...(signal && { signal }),
    })
  }

  #listening(): Promise<PortInfo[]> {
    return listeningPorts(this.#core, this.#core.ready())
  }

  async #resolve(port: number): Promise<PortAddress> {
    const { machine, forwards } = this.#core.ready()
    const listening = await this.#listening()
    const found = listening.find((one) => one.port === port)
    if (found === undefined) throw nothingListens(port, listening)
    if (machine.sharesLoopback) {
      const host = ['0.0.0.0', '::'].includes(found.address) ? '127.0.0.1' : found.address
      return { host, port, url: `http://${host.includes(':') ? `[${host}]` : host}:${port}` }
    }
    const outer = await forwards.hostPort(port)
    return { host: '127.0.0.1', port: outer, url: `http://127.0.0.1:${outer}` }
  }
}

const maxNamed = 20

function nothingListens(port: number, listening: readonly PortInfo[]): VitrineError {
  const others = listening.slice(0, maxNamed).map((one) => one.port)
  const hint = others.length === 0 ? 'nor on any other' : `only on ${others.join(', ')}`
  return new VitrineError('port_unavailable', `Nothing listens on port ${port} of the sandbox, ${hint}.`, {
    details: { port, listening: others },
  })
}
