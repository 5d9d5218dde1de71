import type { AgentSession, LiveSession, OpenOptions, SandboxSessions } from '@vitrine/agents'
import type {
  HostCallContext,
  JournalOrigin,
  Lifecycle,
  Sandbox,
  Session,
  SessionInfo,
} from '@vitrine/protocol'
import type { LiveReads, PrivateTarget, SandboxEnd } from '@vitrine/sandbox'

/** A session of a host's sandbox; its calls also take the context of a request. */
export interface HostSession extends Omit<Pick<AgentSession, keyof Session | 'cancelTurn'>, 'fork'> {
  fork(options?: Parameters<AgentSession['fork']>[0]): Promise<HostSession>
}

/** The sessions of a host's sandbox, and the turns that requests join by their ids. */
export interface HostSessions
  extends Pick<SandboxSessions, 'prompt' | 'turn' | 'endAll' | 'closeInterrupted'> {
  list(): Promise<readonly SessionInfo[]>
  get(id: string): Promise<HostSession>
  /** The state of an open session, masked as events are; undefined where only its journal shows it. */
  look(id: string): LiveSession | undefined
  resume(id: string, options?: Partial<Omit<OpenOptions, 'id' | 'agent'>>): Promise<HostSession>
  resumeOrCreate(options: OpenOptions & { readonly id: string }): Promise<HostSession>
}

/** Why a host destroys a sandbox otherwise than by a call of `destroy`. */
export type DestroyReason = 'ttl' | 'prune'

export interface HostLifecycle extends Lifecycle {
  /** The reason is that of `sandbox.destroyed`; none for a call of its owner. */
  destroy(reason?: DestroyReason): Promise<void>
}

/** A sandbox of a host: on the engine of this process, or of a provider that opens it itself. */
export interface HostSandbox extends Sandbox, AsyncDisposable {
  readonly journal: JournalOrigin
  readonly lifecycle: HostLifecycle
  readonly sessions: HostSessions
  /** Attached to every operation that goes through this handle. */
  readonly context: HostCallContext
  /** Reads of the live state that are not recorded; undefined where only the journal shows it. */
  readonly look: LiveReads | undefined
  /** Whether the machine is running or paused. */
  readonly isUp: boolean
  /** Whether its host has stopped it until its next use. */
  readonly isAutoStopped: boolean
  /** Whether a call is in flight that starts it if its host has stopped it. */
  readonly isInUse: boolean
  /** Settles when a close that has begun is done; undefined before that. */
  readonly closing: Promise<void> | undefined
  /**
   * Appends text to a file of the workspace without an operation and without file events, in any state; absent where
   * the workspace is not on this machine.
   */
  appendPrivately?(path: string, text: string, directory?: PrivateTarget['directory']): void
  as(context: HostCallContext): this
  openSession(options: OpenOptions): Promise<HostSession>
  /** Gives later commands other values of its secrets; for `attach`. */
  replaceSecrets(secrets: Readonly<Record<string, string>>): Promise<void>
  /** Adds a step that runs once, at the end of the first `close` or `lifecycle.destroy`. */
  afterEnd(step: (end: SandboxEnd) => Promise<void>): void
}
