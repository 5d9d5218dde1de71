import type { SandboxCore } from './core.ts'

/** The address of the daemon inside a remote sandbox. */
export interface SandboxEndpoint {
  readonly url?: string
  readonly fetch?: typeof globalThis.fetch
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Creates sandboxes. `Spec` is the type of the provider's own options, passed through unchanged. */
export interface SandboxProvider<Spec = unknown> {
  readonly name: string
  readonly defaultCwd?: string
  create(spec: Spec): Promise<string>
  /** Resumes a paused sandbox; throws if it no longer exists. */
  attach(id: string): Promise<void>
  /** The engine if it runs on this machine, else the address of its daemon. */
  endpoint(id: string): Promise<SandboxEndpoint | SandboxCore>
  ensureDaemon?(id: string): Promise<void>
  pause?(id: string): Promise<void>
  resume?(id: string): Promise<void>
  /** Releases the sandbox as the provider does by default, which may only pause it. */
  destroy(id: string): Promise<void>
  /** Removes the sandbox permanently. */
  kill?(id: string): Promise<void>
}
