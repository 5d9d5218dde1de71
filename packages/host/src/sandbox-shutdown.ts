import { setTimeout as sleep } from 'node:timers/promises'
import type { SandboxSessions } from '@vitrine/agents'
import { VitrineError } from '@vitrine/protocol'
import type { LocalSandbox } from '@vitrine/sandbox'

/** How long sessions may take to end; then the machine goes with their agents in it. */
const sessionsMs = 2_000
/** How long the last events of sessions may take that have no agent any more. */
const finalEventsMs = 400

/** How a sandbox ends, whichever of its handles is asked. */
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

  /** Once it is being closed. */
  get closing(): Promise<void> | undefined {
    return this.#closing
  }

  /** Nobody would end what a closed one starts. */
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

  /** Whatever ends the machine ends the sessions in it first, and does not wait for those that do not end. */
  async afterSessions(reason: string, end: () => Promise<void>): Promise<void> {
    const ended = this.#sessions.endAll(reason)
    await Promise.race([ended.catch(() => undefined), sleep(sessionsMs, undefined, { ref: false })])
    await end()
    await Promise.race([ended, sleep(finalEventsMs, undefined, { ref: false })])
  }

  /** The last thing of a close. */
  afterClose(end: () => Promise<void>): void {
    this.#afterClose.push(end)
  }
}
