import type { Journal } from '@vitrine/journal'
import type { AgentInstance } from './agent-instance.ts'
import type { AgentSession } from './agent-session.ts'
import { AgentStart } from './agent-start.ts'
import type { FoundAgent } from './start-agent.ts'

/** The running agents of a sandbox. Sessions may share an agent; an agent without sessions is ended. */
export class RunningAgents {
  readonly #journal: Journal
  /** Agents that sessions may share, by a key of their start parameters. */
  readonly #shared = new Map<string, AgentStart>()
  readonly #all = new Set<AgentInstance>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** Runs `work` with an agent for a session: a shared one or a new one. */
  async use<T>(
    session: AgentSession,
    found: FoundAgent,
    signal: AbortSignal,
    work: (instance: AgentInstance) => Promise<T>,
  ): Promise<T> {
    const { instance, release } = await this.#claim(found, signal)
    return this.useClaimed(session, instance, release, () => work(instance))
  }

  /** Runs `work` with an agent that is already claimed; stops the agent if it has no session afterwards. */
  async useClaimed<T>(
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

  /** Kills all agents and their process trees at once. */
  async endAll(): Promise<void> {
    await Promise.allSettled([...this.#all].map((instance) => instance.end(0)))
  }

  /** Finds or starts the agent, and keeps it alive until it is released. */
  async #claim(
    found: FoundAgent,
    signal: AbortSignal,
  ): Promise<{ readonly instance: AgentInstance; release(): void }> {
    const { shareKey, name } = found
    const what = `AgentStart the agent ${name}`
    const claimed = (instance: AgentInstance) => ({ instance, release: instance.claim() })
    if (shareKey === undefined)
      return claimed(
        await new AgentStart((startSignal) => this.#start(found, startSignal)).wait(what, signal),
      )
    for (let shared = this.#shared.get(shareKey); shared !== undefined; shared = this.#shared.get(shareKey)) {
      const instance = await shared.wait(what, signal).catch((error: unknown) => {
        if (signal.aborted) throw error
      })
      if (instance?.alive) return claimed(instance)
      if (this.#shared.get(shareKey) === shared) this.#shared.delete(shareKey)
    }
    const starting = new AgentStart((startSignal) => this.#start(found, startSignal))
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
