import { isGap, isVitrineError, type JournalReader, type Sandbox } from '@vitrine/protocol'
import { notifyOne } from '@vitrine/protocol/primitives'
import { type WorkspaceWatch, watchWorkspace } from '../files/watch-workspace.ts'
import { type FileHooks, hasFileHooks, hookCalls } from './file-hooks.ts'

export interface SandboxHooks extends FileHooks {
  /** Called once for each sandbox that `ensure` returns in this process. */
  onReady?(sandbox: Sandbox): unknown
  /** Called with an error of `ensure` or of the watch, and with those of the other hooks. */
  onError?(error: unknown): unknown
  /** Called once when the sandbox is destroyed, whoever does it. */
  onDestroy?(): unknown
}

/** Calls the hooks of a definition for one sandbox: once for each event, however many runs share it. */
export class HookedSandbox {
  readonly #hooks: SandboxHooks
  readonly #ended = new AbortController()
  #watch: WorkspaceWatch | undefined
  #destroyed: Promise<void> = Promise.resolve()

  private constructor(hooks: SandboxHooks) {
    this.#hooks = hooks
  }

  /** Resolves once every later change is seen. */
  static async open(
    sandbox: Sandbox,
    hooks: SandboxHooks,
    { isWatched }: { readonly isWatched: boolean },
  ): Promise<HookedSandbox> {
    const hooked = new HookedSandbox(hooks)
    const { journal } = sandbox
    // Before the sandbox is handed out: it may be destroyed at once.
    const [newest] = (await journal.read({ order: 'desc', limit: 1 })).events
    if (isWatched && hasFileHooks(hooks)) await hooked.#watchFiles(sandbox)
    if (hooks.onDestroy !== undefined)
      hooked.#destroyed = hooked.#watchEnd(journal, newest && journal.cursor(newest))
    hooked.#call('onReady', sandbox)
    return hooked
  }

  /** Delivers the changes so far, and ends. */
  async close(): Promise<void> {
    await this.#watch?.stop()
    this.#ended.abort()
    await this.#destroyed
  }

  /** Delivers the changes so far. The end of the sandbox is still seen. */
  async deliver(): Promise<void> {
    await this.#watch?.stop()
    this.#watch = undefined
  }

  /** Resolves when `onDestroy` was called. */
  get destroyed(): Promise<void> {
    return this.#destroyed
  }

  async #watchFiles(sandbox: Sandbox): Promise<void> {
    this.#watch = await watchWorkspace(sandbox, {
      onEvent: (event) => {
        for (const [hook, given] of hookCalls(this.#hooks, event)) this.#call(hook, given)
      },
      onError: (error) => this.#call('onError', error),
    })
  }

  async #watchEnd(journal: JournalReader, after: string | undefined): Promise<void> {
    const options = { ...(after !== undefined && { after }), signal: this.#ended.signal }
    try {
      for await (const item of journal.tail({ ...options, types: ['sandbox.destroyed'] }))
        if (!isGap(item)) break
      if (!this.#ended.signal.aborted) this.#call('onDestroy')
    } catch (error) {
      // The journal of a sandbox in this process ends with it.
      if (isVitrineError(error) && error.code === 'sandbox_destroyed') this.#call('onDestroy')
      else this.#call('onError', error)
    }
  }

  #call<Hook extends keyof SandboxHooks>(
    hook: Hook,
    ...given: Parameters<NonNullable<SandboxHooks[Hook]>>
  ): void {
    const called = this.#hooks[hook] as ((...values: unknown[]) => unknown) | undefined
    if (called === undefined) return
    const onError = hook === 'onError' ? () => undefined : (error: unknown) => this.#call('onError', error)
    void notifyOne((values: readonly unknown[]) => called(...values), given, onError)
  }
}
