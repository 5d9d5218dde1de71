import type { Journal } from '@vitrine/journal'
import { type Lifecycle, VitrineError } from '@vitrine/protocol'
import type { EngineCore } from './core.ts'

/** The life of one sandbox. Every step of it is an operation, and so is what it does inside. */
export class SandboxLifecycle implements Lifecycle {
  readonly #core: EngineCore
  readonly #journal: Journal

  constructor(core: EngineCore, journal: Journal) {
    this.#core = core
    this.#journal = journal
  }

  start(): Promise<void> {
    return this.#journal.operate('start', {}, () => this.#core.start(this.#journal))
  }

  stop(): Promise<void> {
    return this.#journal.operate('stop', {}, () => this.#core.stopOnce(() => this.#stop()))
  }

  async #stop(): Promise<void> {
    let failure: { readonly error: unknown } | undefined
    const attempt = async (
      op: string,
      facts: Readonly<Record<string, unknown>>,
      run: () => Promise<void>,
    ) => {
      try {
        await this.#journal.operate(op, facts, run)
      } catch (error) {
        failure ??= { error }
      }
    }
    await attempt('before_stop', {}, () => this.#core.beforeStop.run())
    const blocked = this.#core.beforeStop.failed
    // The directory that stays is what is persisted here.
    if (!blocked && this.#core.state === 'running')
      await attempt('persist_workspace', { kept: true }, () => this.#core.files().settle())
    await this.#shutdown({ reason: 'stopped', ...(blocked && { persistenceBlocked: true }) })
    if (failure !== undefined) throw failure.error
  }

  shutdown(): Promise<void> {
    return this.#journal.operate('shutdown', {}, () =>
      this.#core.shutdown(this.#journal, { reason: 'shutdown' }),
    )
  }

  #shutdown(facts: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#journal.operate('shutdown', {}, () => this.#core.shutdown(this.#journal, facts))
  }

  pause(): Promise<void> {
    return this.#journal.operate('pause', {}, () => this.#core.pause(this.#journal))
  }

  resume(): Promise<void> {
    return this.#journal.operate('resume', {}, () => this.#core.resume(this.#journal))
  }

  destroy(): Promise<void> {
    return this.#journal.operate('destroy', {}, () => this.#core.destroy(this.#journal))
  }

  running(): Promise<boolean> {
    return this.#journal.operate('running', {}, () => this.#core.state === 'running', {
      finish: (alive) => ({ alive }),
    })
  }

  skipOnPersist(path: string): string {
    return this.#core.skips.add(path)
  }

  onBeforeStop(hook: () => void | Promise<void>): void {
    if (typeof hook !== 'function')
      throw new VitrineError('argument_invalid', `onBeforeStop: expected a function, got ${typeof hook}.`)
    this.#core.beforeStop.add(hook)
  }
}
