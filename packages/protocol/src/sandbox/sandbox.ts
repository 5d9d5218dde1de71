import type { SandboxCore } from './core.ts'
import type { CreateSandboxOptions } from './create.ts'
import type { LifeTimes } from './life-times.ts'
import type { SandboxLook } from './look.ts'
import type { Pruned, PruneOptions } from './prune.ts'
import type { OpenSessionOptions, Session, Sessions } from './sessions.ts'

/** A sandbox with agents, implemented by the host and by the HTTP client. */
export interface Sandbox extends SandboxCore {
  openSession(options: OpenSessionOptions): Promise<Session>
  readonly sessions: Sessions
}

/** A sandbox as lists show it. */
export interface SandboxInfo extends LifeTimes {
  readonly id: string
  readonly provider: string
  readonly labels: Readonly<Record<string, string>>
  readonly createdAt: string
  /** `stopped`: it is not running, and can be attached to. */
  readonly state: 'running' | 'stopped' | 'destroyed'
  /** The disk space of its workspace, its HOME and its other folders, if the list was asked for it and it can be measured. */
  readonly diskBytes?: number
  /** Why it cannot be attached, if its record is damaged. `createdAt` is then when the record last changed. */
  readonly error?: { readonly code: string; readonly message: string }
}

/** Which sandboxes a list shows: those that fit all given fields. */
export interface SandboxFilter {
  /** Default: all but the destroyed ones. */
  readonly state?: SandboxInfo['state'] | 'all'
  readonly provider?: string
  /** Labels that a sandbox must have, with these values. */
  readonly labels?: Readonly<Record<string, string>>
}

export interface ListSandboxesOptions extends SandboxFilter {
  /** Measures the `diskBytes` of each, which reads its folders; default false. */
  readonly disk?: boolean
}

/** Values that an attach gives again or replaces; everything else is restored from the sandbox's record. */
export interface AttachSandboxOptions {
  /** The values of the secrets that the record names, and others to mask in the journal from now on. */
  readonly secrets?: Readonly<Record<string, string>>
  /** Replaces the recorded isolation; `none` lets an isolated sandbox come back without it. */
  readonly isolation?: 'bubblewrap' | 'none'
  /** Limits that it may come back without, such as `limits.memoryBytes`. */
  readonly allowDegraded?: readonly string[]
  readonly signal?: AbortSignal
}

/** Creates, lists, attaches and destroys sandboxes: a host, or a daemon over HTTP. */
export interface SandboxClient {
  create(options?: CreateSandboxOptions): Promise<Sandbox>
  attach(id: string, given?: AttachSandboxOptions): Promise<Sandbox>
  /** Starts none of them. */
  list(options?: ListSandboxesOptions): Promise<readonly SandboxInfo[]>
  /** Reads what a sandbox is or was, without starting it. */
  look(id: string): Promise<SandboxLook>
  /** Removes a sandbox's workspace for good. Its journal stays. */
  destroy(id: string): Promise<void>
  /** Destroys the stopped sandboxes that fit the options. */
  prune(options: PruneOptions): Promise<Pruned>
}
