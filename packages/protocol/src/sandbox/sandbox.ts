import type { SandboxCore } from './core.ts'
import type { OpenSessionOptions, Session, Sessions } from './sessions.ts'

/** A sandbox with agents, implemented by the host and by the HTTP client. */
export interface Sandbox extends SandboxCore {
  openSession(options: OpenSessionOptions): Promise<Session>
  readonly sessions: Sessions
}

export interface CreateSandboxOptions {
  readonly id?: string
  readonly provider?: string
  readonly labels?: Readonly<Record<string, string>>
}

/** A sandbox as lists show it. */
export interface SandboxInfo {
  readonly id: string
  readonly provider: string
  readonly labels: Readonly<Record<string, string>>
  readonly createdAt: string
  /** `stopped`: it is not running, and can be attached to. */
  readonly state: 'running' | 'stopped' | 'destroyed'
}

/** Creates and attaches sandboxes: a host, or a daemon over HTTP. */
export interface SandboxClient {
  create(options?: CreateSandboxOptions): Promise<Sandbox>
  attach(id: string): Promise<Sandbox>
}
