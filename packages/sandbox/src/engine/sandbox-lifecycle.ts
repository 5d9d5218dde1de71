import type { Journal } from '@vitrine/journal'
import { type Command, type ExecResult, VitrineError } from '@vitrine/protocol'
import type { EngineCore } from './core.ts'
import type { EngineLifecycle } from './sandbox-engine.ts'
import type { SandboxRelease } from './sandbox-release.ts'

/** The lifecycle of one sandbox. Every call is an operation, and so are its inner steps. */
export class SandboxLifecycle implements EngineLifecycle {
  readonly #core: EngineCore
  readonly #journal: Journal
  readonly #release: SandboxRelease
  readonly #exec: (command: Command) => Promise<ExecResult>

  constructor(
    core: EngineCore,
    journal: Journal,
    release: SandboxRelease,
    exec: (command: Command) => Promise<ExecResult>,
  ) {
    this.#core = core
    this.#journal = journal
    this.#release = release
    this.#exec = exec
  }

  get persistenceBlocked(): boolean {
    return this.#core.beforeStop.failed
  }

  start(): Promise<void> {
    return this.#journal.operate('start', {}, () => this.#core.start(this.#journal))
  }

  stop(reason = 'stopped'): Promise<void> {
    return this.#journal.operate('stop', {}, () => this.#core.stopOnce(() => this.#stop(reason)))
  }

  async #stop(reason: string): Promise<void> {
    let failure: { readonly error: unknown } | undefined
    const attempt = async (op: string, data: Readonly<Record<string, unknown>>, run: () => Promise<void>) => {
      try {
        await this.#journal.operate(op, data, run)
      } catch (error) {
        failure ??= { error }
      }
    }
    await attempt('before_stop', {}, () => this.#core.beforeStop.run())
    const blocked = this.#core.beforeStop.failed
    // The workspace directory itself is the persisted state, so there is only the watcher to flush.
    if (!blocked && this.#core.state === 'running')
      await attempt('persist_workspace', { kept: true }, () => this.#core.files().flushWatcher())
    await this.#shutdown({ reason, ...(blocked && { persistenceBlocked: true }) })
    if (failure !== undefined) throw failure.error
  }

  shutdown(): Promise<void> {
    return this.#journal.operate('shutdown', {}, () =>
      this.#core.shutdown(this.#journal, { reason: 'shutdown' }),
    )
  }

  #shutdown(data: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#journal.operate('shutdown', {}, () => this.#core.shutdown(this.#journal, data))
  }

  pause(): Promise<void> {
    return this.#journal.operate('pause', {}, () => this.#core.pause(this.#journal))
  }

  resume(): Promise<void> {
    return this.#journal.operate('resume', {}, () => this.#core.resume(this.#journal))
  }

  destroy(reason?: string): Promise<void> {
    const data = reason === undefined ? {} : { reason }
    return this.#release.end('destroyed', () =>
      this.#release.hasReleasedStore
        ? this.#core.destroy(undefined)
        : this.#journal.operate('destroy', data, () => this.#core.destroy(this.#journal, data)),
    )
  }

  async running(): Promise<boolean> {
    if (this.#release.hasReleasedStore) return false
    return this.#journal.operate('running', {}, () => this.#core.state === 'running', {
      finish: (alive) => ({ alive }),
    })
  }

  async skipOnPersist(path: string): Promise<string> {
    return this.#core.skips.add(path)
  }

  async onBeforeStop(hook: (() => void | Promise<void>) | Command): Promise<void> {
    if (typeof hook === 'function') this.#core.beforeStop.add(hook)
    else if (typeof hook === 'string' || Array.isArray(hook))
      this.#core.beforeStop.add(() => this.#runHookCommand(hook))
    else {
      const got = typeof hook
      throw new VitrineError(
        'argument_invalid',
        `onBeforeStop: expected a function or a command, got ${got}.`,
      )
    }
  }

  async #runHookCommand(command: Command): Promise<void> {
    const { outcome, exitCode, signal, stderr } = await this.#exec(command)
    if (outcome === 'ok') return
    const how = exitCode === null ? (signal ?? outcome) : `exit code ${exitCode}`
    throw new VitrineError(
      'before_stop_failed',
      `The command before the stop failed (${how}): ${stderr.slice(-1_000)}`,
    )
  }
}
