import type { EventInput } from '../events/envelope.ts'
import type { JournalReader } from '../reading.ts'
import type { Capabilities } from './capabilities.ts'
import type { Files } from './files.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Ports } from './ports.ts'
import type { Command, ExecOptions, ExecResult, Process, Processes, SpawnOptions } from './processes.ts'

/** Who calls and what for; carried by every operation of the call. */
export interface CallContext {
  readonly run?: string
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
  persist(): Promise<ReadableStream<Uint8Array>>
  hydrate(archive: ReadableStream<Uint8Array> | Uint8Array): Promise<void>
  /** `run.*`, `loop.*` and `log.*` only: how the runtime writes its own events. */
  record(events: readonly EventInput[]): Promise<void>
}
