import type { Server } from 'node:net'
import { cancelled } from '@vitrine/archives'
import type { Journal } from '@vitrine/journal'
import type {
  ByteStream,
  Capabilities,
  Command,
  EventContext,
  EventInput,
  ExecOptions,
  ExecResult,
  HostCallContext,
  JournalOrigin,
  Process,
  PtyStart,
  PtyTool,
  PtyUpdate,
  PtyWrite,
  RecordOptions,
  SpawnOptions,
  Unpacked,
} from '@vitrine/protocol'
import { checkOptions, hostOptions, processOptions, sessionOptions } from '@vitrine/protocol/options'
import { appendPrivately, type PrivateTarget } from '../files/append-privately.ts'
import { ProcessHandle } from '../processes/handle.ts'
import { type PipedProcess, pipedProcess } from '../processes/piped-process.ts'
import type { OutputListener } from '../processes/running.ts'
import { createPtyTool } from '../terminals/pty-tool.ts'
import { type ArchiveContext, checkArchive, hydrate, persist } from './archiving.ts'
import { type CommandCaller, execute, start } from './commands.ts'
import { type EngineCore, sandboxDestroyed } from './core.ts'
import { EngineLook } from './engine-look.ts'
import { type OperationData, unpackedData } from './operation-data.ts'
import type { PolicyGate } from './policy-gate.ts'
import { recordEvents } from './record-events.ts'
import { replaceSecrets } from './replace-secrets.ts'
import type { EngineState, SandboxEngine } from './sandbox-engine.ts'
import { anySignal } from './sandbox-file-system.ts'
import { SandboxFiles } from './sandbox-files.ts'
import { SandboxLifecycle } from './sandbox-lifecycle.ts'
import { SandboxPorts } from './sandbox-ports.ts'
import { SandboxProcesses } from './sandbox-processes.ts'
import type { SandboxRelease } from './sandbox-release.ts'
import { registerSecrets } from './secrets.ts'

/** A sandbox on this machine. */
export class LocalSandbox implements SandboxEngine {
  readonly id: string
  readonly provider = 'local'
  readonly root: string
  readonly processes: SandboxProcesses
  readonly ports: SandboxPorts
  readonly files: SandboxFiles
  readonly lifecycle: SandboxLifecycle
  readonly #core: EngineCore
  readonly #journal: Journal
  readonly #gate: PolicyGate | undefined
  readonly #caller: CommandCaller
  readonly #pty: PtyTool
  readonly #release: SandboxRelease

  constructor(core: EngineCore, journal: Journal, gate: PolicyGate | undefined, release: SandboxRelease) {
    this.id = core.id
    this.root = core.settings.folders.root
    this.#core = core
    this.#journal = journal
    this.#gate = gate
    this.#release = release
    this.#caller = { core, journal, gate }
    this.#pty = createPtyTool({ journal, spawn: (...request) => this.#spawn(...request) }, core.terminals)
    this.processes = new SandboxProcesses(core, journal)
    this.ports = new SandboxPorts(core, journal)
    this.files = new SandboxFiles(core, journal)
    this.lifecycle = new SandboxLifecycle(core, journal, release, (command) => this.exec(command))
  }

  get capabilities(): Capabilities {
    return this.#core.capabilities
  }

  get journal(): JournalOrigin {
    return this.#journal
  }

  get state(): EngineState {
    return this.#core.state
  }

  get look(): EngineLook {
    return new EngineLook(this.#core)
  }

  /** A handle to the same sandbox whose calls carry this context. */
  as(context: HostCallContext): this {
    checkOptions('as', sessionOptions.context, context)
    const journal = this.#journal.as(context)
    // No class extends this one, so `this` is exactly `LocalSandbox`.
    return new LocalSandbox(this.#core, journal, this.#gate, this.#release) as this
  }

  async exec(command: Command, options?: ExecOptions): Promise<ExecResult> {
    checkOptions('exec', processOptions.exec, options)
    return execute(this.#caller, command, options ?? {})
  }

  async spawn(command: Command, options?: SpawnOptions): Promise<Process> {
    checkOptions('spawn', processOptions.spawn, options)
    return this.#spawn(command, options ?? {})
  }

  /** Runs a command with variables that the host itself has set, so that the policy judges the command only. */
  execWithHostVariables(command: Command, options: ExecOptions): Promise<ExecResult> {
    return execute({ ...this.#caller, variables: 'of-the-host' }, command, options)
  }

  execUnchecked(command: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    const run = () => execute({ ...this.#caller, gate: undefined }, command, options)
    return this.#gate === undefined ? run() : this.#gate.unchecked(run)
  }

  /** Starts a command and resolves when it has ended or the yield time is over; the form that models call. */
  async ptyExecStart(request: PtyStart): Promise<PtyUpdate> {
    checkOptions('ptyExecStart', processOptions.ptyStart, request)
    // Before the first event: the command itself may contain a value.
    if (request.secrets !== undefined) registerSecrets(this.#core, request.secrets, request.env)
    return this.#pty.ptyExecStart(request)
  }

  async ptyWriteStdin(request: PtyWrite): Promise<PtyUpdate> {
    checkOptions('ptyWriteStdin', processOptions.ptyWrite, request)
    return this.#pty.ptyWriteStdin(request)
  }

  ptyTerminateAll(): Promise<void> {
    return this.#pty.ptyTerminateAll()
  }

  async replaceSecrets(secrets: Readonly<Record<string, string>>): Promise<void> {
    await replaceSecrets(this.#core, this.#journal, secrets)
  }

  /** The path whose device and inode identify the workspace: its directory, or the file of its volume. */
  get identifiedBy(): string {
    return this.#core.identifiedBy
  }

  get home(): string {
    return this.#core.ready().machine.home
  }

  async spawnPiped(
    command: readonly string[],
    options: SpawnOptions & { onStderr?(chunk: Uint8Array): void } = {},
  ): Promise<PipedProcess> {
    const { onStderr, ...spawnOptions } = options
    const onOutput: OutputListener = (_stream, chunk) => onStderr?.(chunk)
    // The caller that opens a session has decided to run this program; the policy judges the commands that follow.
    const startProgram = () =>
      start({ ...this.#caller, gate: undefined }, command, spawnOptions, { rawStdout: true, onOutput })
    const entry = await (this.#gate === undefined ? startProgram() : this.#gate.unchecked(startProgram))
    return pipedProcess(entry)
  }

  putInHome(files: Readonly<Record<string, string>>): Promise<() => Promise<void>> {
    const exec = (command: readonly string[], options?: ExecOptions) => this.execUnchecked(command, options)
    return this.#core.home.put({ home: this.home, exec }, files)
  }

  appendPrivately(path: string, text: string, directory?: PrivateTarget['directory']): void {
    const { running } = this.#core
    appendPrivately(
      {
        root: this.root,
        path,
        ...(directory && { directory }),
        onDirectory: (made) => running?.files.addPrivateDirectory(made),
      },
      text,
    )
  }

  allowEgress(egress: readonly string[]): Promise<void> {
    return this.#core.allowEgress(this.#journal, egress)
  }

  listen(port: number): Promise<Server> {
    return this.#core.ready().machine.listen(port)
  }

  async flushFiles(): Promise<void> {
    await this.#core.files().flushWatcher()
  }

  beginTurn(turn: EventContext): () => void {
    return this.#core.turns.begin(turn)
  }

  async #spawn(command: Command, options: SpawnOptions, onOutput?: OutputListener): Promise<Process> {
    const entry = await start(this.#caller, command, options, { ...(onOutput && { onOutput }) })
    return new ProcessHandle(entry, this.#journal, this.#core.settings.processLimits)
  }

  async persist(options: { readonly signal?: AbortSignal } = {}): Promise<ReadableStream<Uint8Array>> {
    checkOptions('persist', hostOptions.archive, options)
    let endData: () => OperationData = () => ({})
    const { skips } = this.#core
    return this.#core.streams.operate(
      this.#journal,
      'persist_workspace',
      { root: this.root, ...(skips.paths.size > 0 && { skip: [...skips.paths] }) },
      (onEnd) => {
        if (options.signal?.aborted) throw cancelled(options.signal)
        const packing = persist(this.#archiveContext(options), skips.paths, onEnd)
        endData = packing.endData
        return packing.stream
      },
      () => endData(),
    )
  }

  async hydrate(
    archive: ByteStream | Uint8Array,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Unpacked> {
    checkOptions('hydrate', hostOptions.archive, options)
    const { signal } = options
    return this.#journal
      .operate(
        'hydrate_workspace',
        { root: this.root },
        () => {
          const keep = (name: string) => this.#core.skips.holdsMount(name)
          return this.#core
            .files()
            .tracked(() => hydrate(this.#archiveContext(options), checkArchive(archive), keep))
        },
        { finish: unpackedData, ...(signal && { signal }) },
      )
      .catch((error: unknown) => {
        throw signal?.aborted && error === signal.reason ? cancelled(signal) : error
      })
  }

  #archiveContext({ signal }: { readonly signal?: AbortSignal }): ArchiveContext {
    const { context, shutdownSignal } = this.#core.files()
    return { context, limits: this.#core.settings.archiveLimits, signal: anySignal(signal, shutdownSignal) }
  }

  async record(events: readonly EventInput[], options: RecordOptions = {}): Promise<void> {
    const { batches } = this.#core
    const assertExists = () => {
      if (this.#core.state === 'destroyed') throw sandboxDestroyed(this.id)
    }
    await recordEvents({ journal: this.#journal, batches, assertExists }, events, options)
  }

  /**
   * Stops every process, and closes the store if it was made for this sandbox. The workspace stays, and the journal in a given
   * store; `lifecycle.destroy` removes the workspace.
   */
  close(): Promise<void> {
    return this.#release.end('closed', async () => {
      if (this.#core.state === 'running' || this.#core.state === 'paused') await this.lifecycle.shutdown()
      // Waits for a shutdown in progress, such as that of a host that was taken over.
      else await this.#core.abandon()
      if (this.#core.state === 'destroyed') this.#core.store.forgetSecretsOf(this.id)
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
