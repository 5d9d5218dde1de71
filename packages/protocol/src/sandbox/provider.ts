import type { JournalOrigin } from '../exporting.ts'
import type { JsonObject } from '../json.ts'
import type { CreateSandboxOptions } from './create.ts'
import type { LocalOptions } from './local.ts'
import type { Sandbox } from './sandbox.ts'

/** An option of `create` that a provider has to carry out itself. */
export type ProviderOption = 'image' | 'workspace' | 'policy' | 'egress' | 'limits' | 'env' | 'secrets'

export interface ProviderCall {
  /** The id of the sandbox in the host, in its journal and in every event. */
  readonly sandbox: string
  /** Aborted when the caller cancels, when the host closes, and when the call takes too long. */
  readonly signal: AbortSignal
}

/** The options of a new sandbox. The host refuses options that the provider does not take. */
export type ProviderCreateCall = ProviderCall & Pick<CreateSandboxOptions, ProviderOption | 'labels'>

/** A sandbox that a provider has opened. The host copies its journal, which continues over all openings. */
export interface ProvidedSandbox extends Sandbox {
  readonly journal: JournalOrigin
}

/**
 * Creates sandboxes and opens them, wherever they are. `Spec` is the type of its own options. Errors with a code of Vitrine
 * keep it; every other error is `provider_failed`.
 *
 * @example
 * const host = await openHost({ data, providers: [local(), mine] })
 * await host.create({ provider: 'mine', spec: { size: 'small' } })
 */
export interface SandboxProvider<Spec extends JsonObject = JsonObject> {
  /** The name that `create` and the records use; not `local`. */
  readonly name: string
  /** The options that it carries out; default none. */
  readonly takes?: readonly ProviderOption[]
  /** Returns the id that the other methods get: its own, or that of the sandbox. */
  create(spec: Spec, call: ProviderCreateCall): Promise<string>
  /** Opens a sandbox, and starts or resumes it if needed. Throws `sandbox_destroyed` if it no longer exists. */
  open(id: string, call: ProviderCall): Promise<ProvidedSandbox>
  /** Default: `lifecycle.pause` of the sandbox. */
  pause?(id: string, call: ProviderCall): Promise<void>
  /** Default: `lifecycle.resume` of the sandbox. */
  resume?(id: string, call: ProviderCall): Promise<void>
  /** Releases the sandbox as the provider does by default. Called again if it failed. */
  destroy(id: string, call: ProviderCall): Promise<void>
  /** Removes the sandbox permanently; called instead of `destroy` if it is there. */
  kill?(id: string, call: ProviderCall): Promise<void>
}

/** Sandboxes on the engine of the host's own process. */
export interface EngineProvider {
  readonly name: 'local'
  readonly options: LocalOptions
}

/** A provider as `openHost` takes it. */
export type HostProvider = EngineProvider | SandboxProvider
