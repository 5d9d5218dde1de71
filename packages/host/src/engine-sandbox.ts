import type { AgentSession, OpenOptions, SandboxSessions } from '@vitrine/agents'
import {
  type ByteStream,
  type Capabilities,
  type Command,
  type EventInput,
  type ExecOptions,
  type ExecResult,
  type Files,
  type HostCallContext,
  isVitrineError,
  type JournalOrigin,
  type Lifecycle,
  type Ports,
  type Process,
  type Processes,
  type PtyStart,
  type PtyUpdate,
  type PtyWrite,
  type RecordOptions,
  type SpawnOptions,
  type Unpacked,
} from '@vitrine/protocol'
import type { LocalSandbox, PrivateTarget, SandboxEnd } from '@vitrine/sandbox'
import type { HostSandbox } from './host-sandbox.ts'
import type { LastingSettings } from './lasting-settings.ts'
import type { SandboxShutdown } from './sandbox-shutdown.ts'

/** A sandbox engine together with its agent sessions. */
export class EngineSandbox implements HostSandbox {
  readonly id: string
  readonly provider: string
  readonly root: string
  readonly lifecycle: Lifecycle
  readonly #engine: LocalSandbox
  readonly #sessions: SandboxSessions
  readonly #shutdown: SandboxShutdown
  readonly #lasting: LastingSettings
  /** Attached to every operation that goes through this handle. */
  readonly context: HostCallContext

  constructor(
    engine: LocalSandbox,
    sessions: SandboxSessions,
    shutdown: SandboxShutdown,
    lasting: LastingSettings,
    context: HostCallContext = {},
  ) {
    this.id = engine.id
    this.provider = engine.provider
    this.root = engine.root
    this.#engine = engine
    this.#sessions = sessions
    this.#shutdown = shutdown
    this.#lasting = lasting
    this.context = context
    this.lifecycle = hostLifecycle(engine.lifecycle, shutdown, lasting)
  }

  get capabilities(): Capabilities {
    return this.#engine.capabilities
  }

  get journal(): JournalOrigin {
    return this.#engine.journal
  }

  /** Reads of the live state that are not recorded. */
  get look(): LocalSandbox['look'] {
    return this.#engine.look
  }

  get processes(): Processes {
    return this.#engine.processes
  }

  get files(): Files {
    return this.#engine.files
  }

  get ports(): Ports {
    return this.#engine.ports
  }

  get sessions(): SandboxSessions {
    return this.#sessions
  }

  /** Appends text to a file of the workspace without an operation and without file events, in any state. */
  appendPrivately(path: string, text: string, directory?: PrivateTarget['directory']): void {
    this.#engine.appendPrivately(path, text, directory)
  }

  /** HOME of the processes in the sandbox. */
  get home(): string {
    return this.#engine.home
  }

  as(context: HostCallContext): this {
    const all = { ...this.context, ...context }
    // The cast holds because the class has no subclasses.
    return new EngineSandbox(
      this.#engine.as(context),
      this.#sessions,
      this.#shutdown,
      this.#lasting,
      all,
    ) as this
  }

  exec(command: Command, options?: ExecOptions): Promise<ExecResult> {
    return this.#engine.exec(command, options)
  }

  spawn(command: Command, options?: SpawnOptions): Promise<Process> {
    return this.#engine.spawn(command, options)
  }

  ptyExecStart(start: PtyStart): Promise<PtyUpdate> {
    return this.#engine.ptyExecStart(start)
  }

  ptyWriteStdin(write: PtyWrite): Promise<PtyUpdate> {
    return this.#engine.ptyWriteStdin(write)
  }

  ptyTerminateAll(): Promise<void> {
    return this.#engine.ptyTerminateAll()
  }

  /** Gives later commands other values of its secrets; for `attach`. */
  replaceSecrets(secrets: Readonly<Record<string, string>>): Promise<void> {
    return this.#engine.replaceSecrets(secrets)
  }

  persist(options?: { readonly signal?: AbortSignal }): Promise<ReadableStream<Uint8Array>> {
    return this.#engine.persist(options)
  }

  hydrate(archive: ByteStream | Uint8Array, options?: { readonly signal?: AbortSignal }): Promise<Unpacked> {
    return this.#engine.hydrate(archive, options)
  }

  record(events: readonly EventInput[], options?: RecordOptions): Promise<void> {
    return this.#engine.record(events, options)
  }

  openSession(options: OpenOptions): Promise<AgentSession> {
    return this.#sessions.openSession({ context: this.context, ...options })
  }

  /** Whether the machine is running or paused. */
  get isUp(): boolean {
    try {
      return this.#engine.home !== ''
    } catch (error) {
      return isVitrineError(error) && error.code === 'sandbox_paused'
    }
  }

  /** Settles when a close that has begun is done; undefined before that. */
  get closing(): Promise<void> | undefined {
    return this.#shutdown.closing
  }

  /**
   * Ends the sessions and every process. The workspace and the journal stay, unless they were made for a script: then
   * nothing stays.
   */
  close(): Promise<void> {
    return this.#shutdown.close()
  }

  /** Adds a step that runs once, at the end of the first `close` or `lifecycle.destroy`. */
  afterEnd(step: (end: SandboxEnd) => Promise<void>): void {
    this.#shutdown.afterEnd(step)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** The engine's lifecycle, where stop, shutdown and destroy end the sessions first, and what is registered is stored. */
function hostLifecycle(
  engine: LocalSandbox['lifecycle'],
  shutdown: SandboxShutdown,
  lasting: LastingSettings,
): Lifecycle {
  return {
    async start() {
      shutdown.assertOpen()
      await engine.start()
    },
    stop: () =>
      shutdown.afterSessions('the sandbox was stopped', async () => {
        try {
          await engine.stop()
        } finally {
          if (engine.persistenceBlocked) lasting.blockPersistence()
        }
      }),
    shutdown: () => shutdown.afterSessions('the sandbox was shut down', () => engine.shutdown()),
    pause: () => engine.pause(),
    resume: () => engine.resume(),
    destroy: () => shutdown.destroy(() => engine.destroy()),
    running: async () => !shutdown.isReleased && engine.running(),
    async onBeforeStop(hook) {
      await engine.onBeforeStop(hook)
      lasting.addBeforeStop(hook)
    },
    async skipOnPersist(path) {
      const concrete = await engine.skipOnPersist(path)
      lasting.addSkipOnPersist(concrete)
      return concrete
    },
  }
}
