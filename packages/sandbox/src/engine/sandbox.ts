import type { Journal } from '@vitrine/journal'
import {
  type CallContext,
  type Capabilities,
  type Command,
  type EventInput,
  type ExecOptions,
  type ExecResult,
  type JournalReader,
  matchTypes,
  type Process,
  type SandboxCore,
  type SpawnOptions,
  VitrineError,
} from '@vitrine/protocol'
import { ProcessHandle } from '../processes/handle.ts'
import type { OutputListener } from '../processes/running.ts'
import { createPtyTool, type PtyStart, type PtyTool, type PtyWrite } from '../terminals/pty-tool.ts'
import type { PtyUpdate } from '../terminals/pty-update.ts'
import { type Caller, execute, start } from './commands.ts'
import type { EngineCore } from './core.ts'
import type { PolicyGate } from './policy-gate.ts'
import { SandboxLifecycle } from './sandbox-lifecycle.ts'
import { SandboxPorts } from './sandbox-ports.ts'
import { SandboxProcesses } from './sandbox-processes.ts'

const recordable = ['run.*', 'loop.*', 'log.*']
const isRecordable = matchTypes(recordable)

/** What this engine does of a sandbox: everything but files and their persistence. */
type ProcessSide = Omit<SandboxCore, 'files' | 'persist' | 'hydrate' | 'lifecycle' | 'as'> & {
  readonly lifecycle: SandboxLifecycle
}

/** A sandbox on this machine. */
export class LocalSandbox implements ProcessSide, AsyncDisposable {
  readonly id: string
  readonly provider = 'local'
  readonly root: string
  readonly processes: SandboxProcesses
  readonly ports: SandboxPorts
  readonly lifecycle: SandboxLifecycle
  readonly #core: EngineCore
  readonly #journal: Journal
  readonly #gate: PolicyGate | undefined
  readonly #caller: Caller
  readonly #pty: PtyTool
  readonly #closeStore: () => Promise<void>

  constructor(
    core: EngineCore,
    journal: Journal,
    gate: PolicyGate | undefined,
    closeStore: () => Promise<void>,
  ) {
    this.id = core.id
    this.root = core.settings.folders.root
    this.#core = core
    this.#journal = journal
    this.#gate = gate
    this.#closeStore = closeStore
    this.#caller = { core, journal, gate }
    this.#pty = createPtyTool({ journal, spawn: (...asked) => this.#spawn(...asked) }, core.terminals)
    this.processes = new SandboxProcesses(core, journal)
    this.ports = new SandboxPorts(core, journal)
    this.lifecycle = new SandboxLifecycle(core, journal)
  }

  get capabilities(): Capabilities {
    return this.#core.capabilities
  }

  get journal(): JournalReader {
    return this.#journal
  }

  /** The same sandbox; its calls carry that context. */
  as(context: CallContext): LocalSandbox {
    return new LocalSandbox(this.#core, this.#journal.as(context), this.#gate, this.#closeStore)
  }

  exec(command: Command, options: ExecOptions = {}): Promise<ExecResult> {
    return execute(this.#caller, command, options)
  }

  spawn(command: Command, options: SpawnOptions = {}): Promise<Process> {
    return this.#spawn(command, options)
  }

  /** Starts a command and answers when it has ended or the time is over: the form that models call. */
  ptyExecStart(asked: PtyStart): Promise<PtyUpdate> {
    return this.#pty.ptyExecStart(asked)
  }

  ptyWriteStdin(asked: PtyWrite): Promise<PtyUpdate> {
    return this.#pty.ptyWriteStdin(asked)
  }

  ptyTerminateAll(): Promise<void> {
    return this.#pty.ptyTerminateAll()
  }

  async #spawn(command: Command, options: SpawnOptions, onOutput?: OutputListener): Promise<Process> {
    const entry = await start(this.#caller, command, options, onOutput)
    return new ProcessHandle(entry, this.#journal, this.#core.settings.processLimits)
  }

  async record(events: readonly EventInput[]): Promise<void> {
    const foreign = events.find(({ type }) => !isRecordable(type))
    if (foreign !== undefined) {
      const message = `record: expected ${recordable.join(', ')}, got ${foreign.type}.`
      throw new VitrineError('argument_invalid', message)
    }
    await this.#journal.as({ source: 'runtime' }).append(events)
  }

  /** Ends every process. The workspace and the journal stay; `lifecycle.destroy` removes the workspace. */
  async close(): Promise<void> {
    if (this.#core.state === 'running' || this.#core.state === 'paused') await this.lifecycle.shutdown()
    await this.#closeStore()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
