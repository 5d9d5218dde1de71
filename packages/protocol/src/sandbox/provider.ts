import type { SandboxCore } from './core.ts'

/** How to reach the daemon inside a remote sandbox. */
export interface SandboxEndpoint {
  readonly url?: string
  readonly fetch?: typeof globalThis.fetch
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Where sandboxes come from. `Spec` is the provider's own create options, passed through as they are. */
export interface SandboxProvider<Spec = unknown> {
  readonly name: string
  readonly defaultCwd?: string
  create(spec: Spec): Promise<string>
  /** Resumes what was paused; throws for what is gone. */
  attach(id: string): Promise<void>
  /** The engine itself where it is on this machine, else where its daemon listens. */
  endpoint(id: string): Promise<SandboxEndpoint | SandboxCore>
  ensureDaemon?(id: string): Promise<void>
  pause?(id: string): Promise<void>
  resume?(id: string): Promise<void>
  /** The provider's own clean-up, which may only pause. */
  destroy(id: string): Promise<void>
  /** For good. */
  kill?(id: string): Promise<void>
}
