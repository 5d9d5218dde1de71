import type { Server } from 'node:net'
import type {
  EventContext,
  ExecOptions,
  ExecResult,
  HostCallContext,
  JournalOrigin,
  Lifecycle,
  PortInfo,
  ProcessExit,
  ProcessInfo,
  SandboxCore,
  SpawnOptions,
} from '@vitrine/protocol'
import type { PrivateTarget } from '../files/append-privately.ts'
import type { PipedProcess } from '../processes/piped-process.ts'

export type EngineState = 'stopped' | 'running' | 'paused' | 'destroyed'

/** Reads of the live state that are no operations. They are masked as events are. */
export interface LiveReads {
  processes(): ProcessInfo[]
  process(id: string): ProcessInfo
  exitOf(id: string): Promise<ProcessExit>
  ports(): Promise<readonly PortInfo[]>
}

export interface EngineLifecycle extends Lifecycle {
  /** Whether a hook before a stop has failed, so that the workspace is not persisted any more. */
  readonly persistenceBlocked: boolean
  /** The reason is that of `sandbox.stopped`. */
  stop(reason?: string): Promise<void>
  /** The reason is that of `sandbox.destroyed`; none for a call of its owner. */
  destroy(reason?: string): Promise<void>
}

/** A sandbox in this process, with the calls that its host and its sessions need. */
export interface SandboxEngine extends SandboxCore, AsyncDisposable {
  readonly journal: JournalOrigin
  readonly lifecycle: EngineLifecycle
  readonly state: EngineState
  /** Undefined where only the journal shows it. */
  readonly look: LiveReads | undefined
  /** The path of HOME as processes see it. */
  readonly home: string
  as(context: HostCallContext): this
  /** Runs a command of the host: journaled like every other, but not judged by the policy. */
  execUnchecked(command: readonly string[], options?: ExecOptions): Promise<ExecResult>
  /** Starts a program whose stdout goes to the caller, who reads and records it. Its stderr is recorded as for every process. */
  spawnPiped(
    command: readonly string[],
    options?: SpawnOptions & { onStderr?(chunk: Uint8Array): void },
  ): Promise<PipedProcess>
  /** Writes files into HOME for an agent. Returns a function that removes them; the next start does so too. */
  putInHome(files: Readonly<Record<string, string>>): Promise<() => Promise<void>>
  /** Appends text to a file of the workspace without an operation and without file events, in any state. */
  appendPrivately(path: string, text: string, directory?: PrivateTarget['directory']): void
  /** Adds egress targets for its commands, each a `host:port`. */
  allowEgress(egress: readonly string[]): Promise<void>
  /** Opens a server on the sandbox's loopback. */
  listen(port: number): Promise<Server>
  /** Resolves once every change made before the call is in the journal; at once where changes are not watched. */
  flushFiles(): Promise<void>
  /** Attributes file changes to this turn while no other turn runs. Returns the function that ends the turn. */
  beginTurn(turn: EventContext): () => void
  /**
   * Gives later commands other values of its secrets, which are masked from now on; the earlier ones stay masked. A value
   * that is not among its variables is only masked.
   */
  replaceSecrets(secrets: Readonly<Record<string, string>>): Promise<void>
}
