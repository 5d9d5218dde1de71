import { mkdtemp, rm } from 'node:fs/promises'
import { type Host, local, openHost } from '@vitrine/host'
import type { EngineProvider, SandboxClient } from '@vitrine/protocol'

/** Not /tmp: HOME of the agents is below it, and some agents refuse a HOME below TMPDIR. */
const temporary = '/var/tmp/vitrine-'

/**
 * The client that a definition creates its sandboxes with: the given one, or a host of its own for `local()`. That host has
 * the data directory of `local({ data })`, or a temporary one, which is removed.
 */
export class DefinitionClient {
  readonly #provider: SandboxClient | EngineProvider
  #host: Promise<Host> | undefined
  #temporary: string | undefined

  constructor(provider: SandboxClient | EngineProvider) {
    this.#provider = provider
  }

  async open(): Promise<SandboxClient> {
    if ('create' in this.#provider) return this.#provider
    this.#host ??= this.#openHost(this.#provider).catch((error: unknown) => {
      this.#host = undefined
      throw error
    })
    return this.#host
  }

  /** Ends a host that it opened, and leaves a given client. */
  async close(): Promise<void> {
    const host = await this.#host?.catch(() => undefined)
    this.#host = undefined
    await host?.close()
    if (this.#temporary !== undefined) await rm(this.#temporary, { recursive: true, force: true })
    this.#temporary = undefined
  }

  async #openHost({ options }: EngineProvider): Promise<Host> {
    const { data, ...rest } = options
    if (data === undefined) this.#temporary ??= await mkdtemp(temporary)
    return openHost({ data: data ?? this.#temporary ?? temporary, providers: [local(rest)] })
  }
}
