import {
  type CommandPolicyOptions,
  type CreateSandboxOptions,
  type EngineProvider,
  type LifeTimes,
  type Sandbox,
  type SandboxClient,
  VitrineError,
  type WorkspaceManifest,
} from '@vitrine/protocol'
import { checkOptions, runOptions } from '@vitrine/protocol/options'
import { notifyOne } from '@vitrine/protocol/primitives'
import { DefinitionClient } from './definition-client.ts'
import { definitionKey, type Tenant } from './definition-key.ts'
import { findExisting, findOrCreate, type KeyedSandbox, newestOf } from './find-or-create.ts'
import { HookedSandbox, type SandboxHooks } from './hooked-sandbox.ts'

export interface DefinitionLifecycle extends LifeTimes {
  /** `thread`: one sandbox for all runs of a thread, the default. `none`: one for each run. */
  readonly reuse?: 'thread' | 'none'
}

export interface DefineSandboxOptions {
  /** The name of the definition. */
  readonly id: string
  /** A host, the client of a daemon, or `local()`, for which the definition opens a host of its own. */
  readonly provider: SandboxClient | EngineProvider
  readonly workspace?: WorkspaceManifest
  readonly policy?: CommandPolicyOptions
  readonly lifecycle?: DefinitionLifecycle
  readonly hooks?: SandboxHooks
  /** False starts no watcher: no change of a file is recorded, and no file hook is called. */
  readonly fileEvents?: boolean
  /** Whether every call has to name a tenant; default false. */
  readonly requireTenant?: boolean
  /** Further options of its sandboxes. */
  readonly sandbox?: Omit<CreateSandboxOptions, 'id' | 'signal' | 'workspace' | 'policy' | keyof LifeTimes>
}

export interface EnsureContext {
  readonly threadId: string
  readonly runId: string
  /** Sandboxes of different tenants are never shared. */
  readonly tenant?: Tenant
  readonly signal?: AbortSignal
}

/** A sandbox that is declared once: `ensure` returns the one of a thread, and creates it if there is none. */
export class SandboxDefinition implements AsyncDisposable {
  readonly id: string
  readonly #options: DefineSandboxOptions
  readonly #client: DefinitionClient
  readonly #hooked = new Map<string, Promise<HookedSandbox>>()

  constructor(options: DefineSandboxOptions) {
    this.id = options.id
    this.#options = options
    this.#client = new DefinitionClient(options.provider)
  }

  /** The key of 256 bits that calls with the same sandbox have in common. */
  key({ threadId, runId, tenant }: EnsureContext): string {
    const { workspace, lifecycle = {}, sandbox = {}, requireTenant = false } = this.#options
    if (requireTenant && tenant === undefined)
      throw new VitrineError('argument_invalid', `tenant: expected one, because ${this.id} requires it.`)
    return definitionKey({
      definition: this.id,
      provider: sandbox.provider ?? 'local',
      workspace,
      thread: threadId,
      ...(lifecycle.reuse === 'none' && { run: runId }),
      ...(tenant !== undefined && { tenant }),
    })
  }

  /** The running sandbox of this thread. A stopped one is started, and a destroyed one is replaced. */
  async ensure(context: EnsureContext): Promise<Sandbox> {
    try {
      const keyed = await this.#keyed('ensure', context)
      const sandbox = await findOrCreate(keyed, this.#createOptions())
      await this.#hook(sandbox)
      return sandbox
    } catch (error) {
      this.#report(error)
      throw error
    }
  }

  /** As `ensure`, but creates none. */
  async ensureExisting(context: EnsureContext): Promise<Sandbox | undefined> {
    const sandbox = await findExisting(await this.#keyed('ensureExisting', context))
    if (sandbox !== undefined) await this.#hook(sandbox)
    return sandbox
  }

  /** Destroys the sandbox of this thread, if there is one. Its journal stays. */
  async destroy(context: EnsureContext): Promise<void> {
    // Also for a call that was aborted: destroying is not given up half way.
    const { signal: _, ...rest } = context
    const keyed = await this.#keyed('destroy', rest)
    const newest = await newestOf(keyed)
    if (newest === undefined || newest.state === 'destroyed') return
    const hooked = await this.#hooked.get(newest.id)
    await hooked?.deliver()
    await keyed.client.destroy(newest.id)
    await hooked?.destroyed
    this.#hooked.delete(newest.id)
  }

  /** Ends the hooks, and the host of a definition on `local()`. A given client and its sandboxes stay. */
  async close(): Promise<void> {
    const all = await Promise.allSettled(this.#hooked.values())
    this.#hooked.clear()
    await Promise.all(all.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)))
    await this.#client.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #keyed(call: string, context: EnsureContext): Promise<KeyedSandbox> {
    checkOptions(call, runOptions.ensure, context ?? {})
    const { signal } = context
    const { secrets } = this.#options.sandbox ?? {}
    return {
      client: await this.#client.open(),
      key: this.key(context),
      ...(signal && { signal }),
      ...(secrets && { secrets }),
    }
  }

  #createOptions(): Omit<CreateSandboxOptions, 'id' | 'signal'> {
    const { workspace, policy, lifecycle = {}, fileEvents = true, sandbox = {} } = this.#options
    const { reuse: _, ...lifeTimes } = lifecycle
    return {
      ...sandbox,
      ...lifeTimes,
      labels: { ...sandbox.labels, definition: this.id },
      ...(workspace && { workspace }),
      ...(policy && { policy }),
      ...(!fileEvents && { local: { ...sandbox.local, watch: false } }),
    }
  }

  /** Once for each sandbox, however many callers get it. */
  async #hook(sandbox: Sandbox): Promise<void> {
    const { hooks, fileEvents = true } = this.#options
    if (hooks === undefined) return
    const { id } = sandbox
    let hooked = this.#hooked.get(id)
    if (hooked === undefined) {
      hooked = HookedSandbox.open(sandbox, hooks, { isWatched: fileEvents })
      hooked.catch(() => this.#hooked.delete(id))
      this.#hooked.set(id, hooked)
    }
    await hooked
  }

  #report(error: unknown): void {
    const { onError } = this.#options.hooks ?? {}
    if (onError !== undefined) void notifyOne(onError, error, () => undefined)
  }
}

/**
 * @example
 * const repo = defineSandbox({ id: 'repo', provider: host, hooks: { onFile: ({ type, path }) => console.log(type, path) } })
 * const sandbox = await repo.ensure({ threadId: 'thread-1', runId: 'run-1' })
 */
export function defineSandbox(options: DefineSandboxOptions): SandboxDefinition {
  checkOptions('defineSandbox', runOptions.defineSandbox, options ?? {})
  return new SandboxDefinition(options)
}
