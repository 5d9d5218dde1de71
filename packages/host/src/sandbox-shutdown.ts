import type { SandboxSessions } from '@vitrine/agents'
import { VitrineError } from '@vitrine/protocol'
import { settledWithin } from '@vitrine/protocol/primitives'
import type { LocalSandbox } from '@vitrine/sandbox'

/** Time for sessions to end; then the machine ends together with their agents. */
const sessionsMs = 2_000
/** Time for sessions to record their last events after the machine has ended. */
const finalEventsMs = 400

/** The shutdown of a sandbox, shared by all its handles. */
export class SandboxShutdown {
  readonly #engine: LocalSandbox
  readonly #sessions: SandboxSessions
  readonly #onEnded: (reason: 'closed' | 'destroyed') => void
  readonly #afterClose: (() => Promise<void>)[] = []
  #closing: Promise<void> | undefined

  constructor(
    engine: LocalSandbox,
    sessions: SandboxSessions,
    onEnded: (how: 'closed' | 'destroyed') => void,
  ) {
    this.#engine = engine
    this.#sessions = sessions
    this.#onEnded = onEnded
  }

  /** Settles when a close that has begun is done; undefined before that. */
  get closing(): Promise<void> | undefined {
    return this.#closing
  }

  /** Throws when the sandbox was closed: the host would not stop a machine that it started after that. */
  assertOpen(): void {
    if (this.#closing === undefined) return
    const { id } = this.#engine
    throw new VitrineError(
      'sandbox_not_running',
      `The sandbox ${id} was closed: \`host.attach('${id}')\` starts it again.`,
    )
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    try {
      await this.afterSessions('the sandbox was closed', () => this.#engine.close())
      this.#onEnded('closed')
    } finally {
      for (const end of this.#afterClose.splice(0)) await end()
    }
  }

  async destroy(destroy: () => Promise<void>): Promise<void> {
    await this.afterSessions('the sandbox was destroyed', destroy)
    this.#onEnded('destroyed')
  }

  /** Ends the sessions, then calls `end` for the machine. Sessions that hang are waited for up to a time limit. */
  async afterSessions(reason: string, end: () => Promise<void>): Promise<void> {
    const ended = this.#sessions.endAll(reason)
    await settledWithin(ended, sessionsMs)
    await end()
    if (await settledWithin(ended, finalEventsMs)) await ended
  }

  /** Adds a callback that runs at the end of `close`. */
  afterClose(end: () => Promise<void>): void {
    this.#afterClose.push(end)
  }
}
