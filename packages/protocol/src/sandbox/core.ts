import type { EventInput } from '../events/envelope.ts'
import type { JournalReader } from '../reading.ts'
import type { Capabilities } from './capabilities.ts'
import type { ByteStream, Files, Unpacked } from './files.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Ports } from './ports.ts'
import type { Command, ExecOptions, ExecResult, Process, Processes, SpawnOptions } from './processes.ts'
import type { PtyTool } from './pty.ts'

/** The actor and purpose of a call, recorded with each of its operations. */
export interface CallContext {
  readonly run?: string
  readonly session?: string
  readonly turn?: string
  readonly actor?: string
  readonly traceparent?: string
}

/** The context of a call that a host takes in its own process. Over HTTP the server sets `caller` from the token. */
export interface HostCallContext extends CallContext {
  readonly caller?: string
}

export interface RecordOptions {
  /**
   * Makes the call repeatable: events that are on record under this id are not appended again. Other events under an id that
   * was used are refused with `record_exists`.
   */
  readonly id?: string
}

/** The methods of an engine. Each call is an operation: a start event, a finish event and a span. */
export interface SandboxCore extends PtyTool {
  readonly id: string
  readonly provider: string
  /** The path of the workspace as processes see it; every method uses the same paths. */
  readonly root: string
  readonly capabilities: Capabilities
  readonly journal: JournalReader
  /** The same sandbox, with this context on every call. */
  as(context: CallContext): this
  exec(command: Command, options?: ExecOptions): Promise<ExecResult>
  spawn(command: Command, options?: SpawnOptions): Promise<Process>
  readonly processes: Processes
  readonly files: Files
  readonly ports: Ports
  readonly lifecycle: Lifecycle
  /** Reads the workspace as a tar. */
  persist(options?: { readonly signal?: AbortSignal }): Promise<ReadableStream<Uint8Array>>
  /** Replaces the content of the workspace with the archive, completely or not at all. */
  hydrate(archive: ByteStream | Uint8Array, options?: { readonly signal?: AbortSignal }): Promise<Unpacked>
  /** Appends events of the runtime; accepts `run.*`, `loop.*`, `log.*` and `limit.reached` only. */
  record(events: readonly EventInput[], options?: RecordOptions): Promise<void>
  /**
   * Releases this handle. It can be repeated, also after `lifecycle.destroy()`. What it ends:
   *
   * - a client's sandbox: the connections of this handle; the sandbox keeps running,
   * - a host's sandbox: its sessions and processes; the workspace, the record and the journal stay,
   * - a sandbox made by `createSandbox` or an in-process client: everything that was made for it, except a workspace and a
   *   HOME that the caller gave.
   */
  close(): Promise<void>
}
