import type { EventInput } from '../events/envelope.ts'
import type { JournalReader } from '../reading.ts'
import type { Capabilities } from './capabilities.ts'
import type { Files, Unpacked } from './files.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Ports } from './ports.ts'
import type { Command, ExecOptions, ExecResult, Process, Processes, SpawnOptions } from './processes.ts'

/** Who calls and what for; carried by every operation of the call. */
export interface CallContext {
  readonly run?: string
  readonly session?: string
  readonly turn?: string
  readonly actor?: string
  readonly traceparent?: string
}

/** What an engine does. Every method is an operation: started, finished, a span. */
export interface SandboxCore {
  readonly id: string
  readonly provider: string
  /** The workspace, as processes see it: one string means one file everywhere. */
  readonly root: string
  readonly capabilities: Capabilities
  readonly journal: JournalReader
  /** The same sandbox; its calls carry that context. */
  as(context: CallContext): this
  exec(command: Command, options?: ExecOptions): Promise<ExecResult>
  spawn(command: Command, options?: SpawnOptions): Promise<Process>
  readonly processes: Processes
  readonly files: Files
  readonly ports: Ports
  readonly lifecycle: Lifecycle
  /** The workspace as a tar. */
  persist(options?: { readonly signal?: AbortSignal }): Promise<ReadableStream<Uint8Array>>
  /** The workspace becomes what is in the archive, all of it or not at all. */
  hydrate(
    archive: ReadableStream<Uint8Array> | Uint8Array,
    options?: { readonly signal?: AbortSignal },
  ): Promise<Unpacked>
  /** `run.*`, `loop.*` and `log.*` only: how the runtime writes its own events. */
  record(events: readonly EventInput[]): Promise<void>
}
