import type { SandboxCore } from './core.ts'
import type { OpenSessionOptions, Session, Sessions } from './sessions.ts'

/** What a host and the client give: an engine with agents in it. */
export interface Sandbox extends SandboxCore {
  openSession(options: OpenSessionOptions): Promise<Session>
  readonly sessions: Sessions
}

export interface CreateSandboxOptions {
  readonly id?: string
  readonly provider?: string
  readonly labels?: Readonly<Record<string, string>>
}

/** A sandbox in a list. */
export interface SandboxInfo {
  readonly id: string
  readonly provider: string
  readonly labels: Readonly<Record<string, string>>
  readonly createdAt: string
  /** `kept`: it is not running, and can be attached to. */
  readonly state: 'running' | 'stopped' | 'destroyed'
}

/** Where sandboxes are had from: a host, or a daemon over HTTP. */
export interface SandboxClient {
  create(options?: CreateSandboxOptions): Promise<Sandbox>
  attach(id: string): Promise<Sandbox>
}
