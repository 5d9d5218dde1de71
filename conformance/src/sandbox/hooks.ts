import { allEvents } from './events.ts'
import type { SandboxKitOptions, SandboxUnderTest } from './kit.ts'

interface Hook {
  /** The hook as a function; it calls `ran` to be counted. */
  call(ran: () => void): void | Promise<void>
  /** The same hook as a shell command; does nothing by default. */
  readonly run?: string
}

/** Registers before-stop hooks: as functions, or as commands where the sandbox is remote and takes no functions. */
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

  /** The names of the hooks that ran, in order. For commands it reads the journal, so the sandbox need not run. */
  async ran(): Promise<readonly string[]> {
    if (!this.#remote) return this.#ran
    const started = await allEvents(this.#under.journal, { types: ['process.started'] })
    return started.flatMap(({ data }) => /: hook (\w+);/.exec(JSON.stringify(data.argv))?.[1] ?? [])
  }
}
