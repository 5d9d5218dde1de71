import { allEvents } from './events.ts'
import type { SandboxKitOptions, SandboxUnderTest } from './kit.ts'

interface Hook {
  /** Says that it ran, and does what it does. */
  call(ran: () => void): void | Promise<void>
  /** The same as a command; by default one that does nothing. */
  readonly run?: string
}

/** What runs before a stop, as functions; as commands where no function can be sent. */
export class StopHooks {
  readonly #under: SandboxUnderTest
  readonly #remote: boolean
  readonly #ran: string[] = []

  constructor(under: SandboxUnderTest, { remote = false }: SandboxKitOptions) {
    this.#under = under
    this.#remote = remote
  }

  async add(name: string, { call, run = ':' }: Hook): Promise<void> {
    const { lifecycle } = this.#under.sandbox
    await lifecycle.onBeforeStop(
      this.#remote ? `: hook ${name}; ${run}` : () => call(() => void this.#ran.push(name)),
    )
  }

  /** The names of those that ran, in order. Of commands the journal knows, also when the sandbox does not run. */
  async ran(): Promise<readonly string[]> {
    if (!this.#remote) return this.#ran
    const started = await allEvents(this.#under.journal, { types: ['process.started'] })
    return started.flatMap(({ data }) => /: hook (\w+);/.exec(JSON.stringify(data.argv))?.[1] ?? [])
  }
}
