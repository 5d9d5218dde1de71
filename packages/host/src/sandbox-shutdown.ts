import type { SandboxSessions } from '@vitrine/agents'
import { VitrineError } from '@vitrine/protocol'
import { Serial, settledWithin } from '@vitrine/protocol/primitives'
import type { SandboxEnd, SandboxEngine } from '@vitrine/sandbox'

/** Time for sessions to end; then the machine ends together with their agents. */
const sessionsMs = 2_000
/** Time for sessions to record their last events after the machine has ended. */
const finalEventsMs = 400

/** The shutdown of a sandbox, shared by all its handles. */
export class SandboxShutdown {
  readonly #engine: SandboxEngine
  readonly #sessions: SandboxSessions
  readonly #onEnded: (end: SandboxEnd) => void
  readonly #ends = new Serial()
  readonly #afterEnd: ((end: SandboxEnd) => Promise<void>)[] = []
  #isReleased = false
  #closing: Promise<void> | undefined

  constructor(engine: SandboxEngine, sessions: SandboxSessions, onEnded: (end: SandboxEnd) => void) {
    this.#engine = engine
    this.#sessions = sessions
    this.#onEnded = onEnded
  }

  /** Settles when a close that has begun is done; undefined before that. */
  get closing(): Promise<void> | undefined {
    return this.#closing
  }

  /** Whether the host and the files that were made for this sandbox alone are gone. */
  get isReleased(): boolean {
    return this.#isReleased
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
    this.#closing ??= this.#ends.run(() => this.#close())
    return this.#closing
  }

  async #close(): Promise<void> {
    if (this.#isReleased) return
    try {
      await this.afterSessions('the sandbox was closed', () => this.#engine.close())
      this.#onEnded('closed')
    } finally {
      await this.#release('closed')
    }
  }

  destroy(destroy: () => Promise<void>): Promise<void> {
    return this.#ends.run(async () => {
      if (this.#isReleased) return
      await this.afterSessions('the sandbox was destroyed', destroy)
      this.#onEnded('destroyed')
      await this.#release('destroyed')
    })
  }

  async #release(end: SandboxEnd): Promise<void> {
    const steps = this.#afterEnd.splice(0)
    if (steps.length === 0) return
    this.#isReleased = true
    for (const step of steps) await step(end)
  }

  /** Ends the sessions, then calls `end` for the machine. Sessions that hang are waited for up to a time limit. */
  async afterSessions(reason: string, end: () => Promise<void>): Promise<void> {
    const ended = this.#sessions.endAll(reason)
    await settledWithin(ended, sessionsMs)
    await end()
    if (await settledWithin(ended, finalEventsMs)) await ended
  }

  /** Adds a step that runs once, at the end of the first `close` or `destroy`, and removes what was made for the sandbox. */
  afterEnd(step: (end: SandboxEnd) => Promise<void>): void {
    this.#afterEnd.push(step)
  }
}
