import type { AgentExit } from '../bridge/transport.ts'
import type { AgentInstance } from './agent-instance.ts'
import type { Restored } from './session-host.ts'
import { type AgentSessionState, type Exit, nextSessionState, type SessionInput } from './session-state.ts'

interface Attached {
  readonly instance: AgentInstance
  /** The agent's own id for the session. */
  readonly agentSession: string
  /** Sent before the next prompt, once. */
  recap: string | undefined
}

/** The parts of a session that the life of its agent uses. */
export interface AttachedAgentOptions {
  /** Starts an agent again and attaches it, with the options that were chosen before. */
  restore(): Promise<AgentInstance>
  /** Records the exit of the agent; returns whether it did: the close of a session records its own end. */
  recordExit(instance: AgentInstance, exit: AgentExit): Promise<boolean>
  closedError(): Error
}

/** The agent of a session, from the first that is attached to the close of the session. */
export class AttachedAgent {
  readonly #options: AttachedAgentOptions
  #state: AgentSessionState<Attached, AgentInstance> = { phase: 'new' }

  constructor(options: AttachedAgentOptions) {
    this.#options = options
  }

  get #attached(): Attached | undefined {
    return this.#state.phase === 'new' ? undefined : this.#state.agent
  }

  get instance(): AgentInstance | undefined {
    return this.#attached?.instance
  }

  get agentSession(): string {
    return this.#attached?.agentSession ?? ''
  }

  get isRunning(): boolean {
    return this.#state.phase === 'open' && this.#state.agent.instance.alive
  }

  /** Whether the close of the session has begun. */
  get closing(): boolean {
    return this.#state.phase === 'closing' || this.#state.phase === 'closed'
  }

  /** The restore that is under way. */
  get restoring(): Promise<AgentInstance> | undefined {
    return 'restored' in this.#state ? this.#state.restored : undefined
  }

  /** The exit of the attached agent. */
  get exit(): Exit | undefined {
    return 'exit' in this.#state ? this.#state.exit : undefined
  }

  #apply(input: SessionInput<Attached, AgentInstance>): void {
    this.#state = nextSessionState(this.#state, input)
  }

  attach({ instance, agentSession, recap }: Restored): void {
    this.#apply({ type: 'attached', agent: { instance, agentSession, recap } })
  }

  /** The running agent; started again when it has exited. */
  ensure(): Promise<AgentInstance> {
    if (this.isRunning && this.instance !== undefined) return Promise.resolve(this.instance)
    const { phase } = this.#state
    if (phase === 'restoring') return this.#state.restored
    if (phase !== 'open' && phase !== 'lost') return Promise.reject(this.#options.closedError())
    const restored = this.#restore(this.#state.agent.instance)
    this.#apply({ type: 'restore', restored })
    return restored
  }

  async #restore(before: AgentInstance): Promise<AgentInstance> {
    try {
      await before.bridge.closed
      await this.exit?.recording
      return await this.#options.restore()
    } finally {
      this.#apply({ type: 'restoreEnded' })
    }
  }

  /** Called when an agent has exited, by itself or ended by the host. */
  onExit(instance: AgentInstance, exit: AgentExit): Promise<void> {
    if (this.instance !== instance) return Promise.resolve()
    const recording = this.#recordExit(instance, exit)
    this.#apply({ type: 'exited', instance, recording })
    return recording
  }

  async #recordExit(instance: AgentInstance, exit: AgentExit): Promise<void> {
    if (await this.#options.recordExit(instance, exit)) this.#apply({ type: 'exitRecorded', instance })
  }

  /** The recap to send before the next prompt; returned once. */
  takeRecap(): string | undefined {
    const attached = this.#attached
    const recap = attached?.recap
    if (attached !== undefined) attached.recap = undefined
    return recap
  }

  /** Closes the session once; every call returns the promise of the first. */
  close(work: () => Promise<void>, onClosed: () => void): Promise<void> {
    if (this.#state.phase === 'closing' || this.#state.phase === 'closed') return this.#state.closed
    const closed = Promise.withResolvers<void>()
    this.#apply({ type: 'close', closed: closed.promise })
    work()
      .finally(() => {
        this.#apply({ type: 'closed' })
        onClosed()
      })
      .then(closed.resolve, closed.reject)
    return closed.promise
  }
}
