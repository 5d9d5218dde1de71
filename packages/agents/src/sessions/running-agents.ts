import type { Journal } from '@vitrine/journal'
import type { AgentInstance } from './agent-instance.ts'
import type { AgentSession } from './agent-session.ts'
import type { FoundAgent } from './start-agent.ts'
import { Starting } from './starting.ts'

/** The agents that run in a sandbox. Several sessions may have one; without any it is ended. */
export class RunningAgents {
  readonly #journal: Journal
  /** Those that several sessions may have, by what they were started with. */
  readonly #shared = new Map<string, Starting>()
  readonly #all = new Set<AgentInstance>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** Works with an agent for a session: one that is shared, or one of its own. */
  async use<T>(
    session: AgentSession,
    found: FoundAgent,
    signal: AbortSignal,
    work: (instance: AgentInstance) => Promise<T>,
  ): Promise<T> {
    const { instance, release } = await this.#claim(found, signal)
    return this.working(session, instance, release, () => work(instance))
  }

  /** The same with one that is claimed already. One that has no session afterwards is ended. */
  async working<T>(
    session: AgentSession,
    instance: AgentInstance,
    release: () => void,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work()
    } catch (error) {
      instance.forget(session)
      throw error
    } finally {
      release()
      if (instance.idle && instance.alive) await instance.end().catch(() => undefined)
    }
  }

  /** At once, and everything they started. */
  async endAll(): Promise<void> {
    await Promise.allSettled([...this.#all].map((instance) => instance.end(0)))
  }

  /** It stays until it is released. */
  async #claim(
    found: FoundAgent,
    signal: AbortSignal,
  ): Promise<{ readonly instance: AgentInstance; release(): void }> {
    const { shareKey, name } = found
    const what = `Starting the agent ${name}`
    const claimed = (instance: AgentInstance) => ({ instance, release: instance.claim() })
    if (shareKey === undefined)
      return claimed(await new Starting((given) => this.#start(found, given)).wait(what, signal))
    for (let there = this.#shared.get(shareKey); there !== undefined; there = this.#shared.get(shareKey)) {
      const instance = await there.wait(what, signal).catch((error: unknown) => {
        if (signal.aborted) throw error
      })
      if (instance?.alive) return claimed(instance)
      if (this.#shared.get(shareKey) === there) this.#shared.delete(shareKey)
    }
    const starting = new Starting((given) => this.#start(found, given))
    this.#shared.set(shareKey, starting)
    return claimed(await starting.wait(what, signal))
  }

  async #start(found: FoundAgent, signal: AbortSignal): Promise<AgentInstance> {
    const { name: agent, quirks, howToLogIn, credentials } = found
    const { AgentInstance } = await import('./agent-instance.ts')
    const transport = await found.start(signal)
    const instance = await AgentInstance.start(
      { agent, transport, journal: this.#journal, credentials, quirks, howToLogIn },
      signal,
    )
    this.#all.add(instance)
    void instance.bridge.closed.finally(() => this.#all.delete(instance)).catch(() => undefined)
    return instance
  }
}
