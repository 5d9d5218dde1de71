import type { AgentSession, OpenOptions, SandboxSessions } from '@vitrine/agents'
import {
  type CallContext,
  type Capabilities,
  type Command,
  type EventInput,
  type ExecOptions,
  type ExecResult,
  type Files,
  isVitrineError,
  type JournalReader,
  type Lifecycle,
  type Ports,
  type Process,
  type Processes,
  type Sandbox,
  type SpawnOptions,
  type Unpacked,
} from '@vitrine/protocol'
import type { LocalSandbox } from '@vitrine/sandbox'
import type { SandboxShutdown } from './sandbox-shutdown.ts'

/** An engine with agents in it. */
export class HostSandbox implements Sandbox, AsyncDisposable {
  readonly id: string
  readonly provider: string
  readonly root: string
  readonly lifecycle: Lifecycle
  readonly #engine: LocalSandbox
  readonly #sessions: SandboxSessions
  readonly #shutdown: SandboxShutdown
  /** What everything that is done through it carries. */
  readonly context: CallContext

  constructor(
    engine: LocalSandbox,
    sessions: SandboxSessions,
    shutdown: SandboxShutdown,
    context: CallContext = {},
  ) {
    this.id = engine.id
    this.provider = engine.provider
    this.root = engine.root
    this.#engine = engine
    this.#sessions = sessions
    this.#shutdown = shutdown
    this.context = context
    this.lifecycle = withSessions(engine.lifecycle, shutdown)
  }

  get capabilities(): Capabilities {
    return this.#engine.capabilities
  }

  get journal(): JournalReader {
    return this.#engine.journal
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

  /** HOME, as processes see it. */
  get home(): string {
    return this.#engine.home
  }

  as(context: CallContext): this {
    const all = { ...this.context, ...context }
    // Nothing inherits from it: it is exactly this class.
    return new HostSandbox(this.#engine.as(context), this.#sessions, this.#shutdown, all) as this
  }

  exec(command: Command, options?: ExecOptions): Promise<ExecResult> {
    return this.#engine.exec(command, options)
  }

  spawn(command: Command, options?: SpawnOptions): Promise<Process> {
    return this.#engine.spawn(command, options)
  }

  persist(options?: { readonly signal?: AbortSignal }): Promise<ReadableStream<Uint8Array>> {
    return this.#engine.persist(options)
  }

  hydrate(
    archive: ReadableStream<Uint8Array> | Uint8Array,
    options?: { readonly signal?: AbortSignal },
  ): Promise<Unpacked> {
    return this.#engine.hydrate(archive, options)
  }

  record(events: readonly EventInput[]): Promise<void> {
    return this.#engine.record(events)
  }

  openSession(options: OpenOptions): Promise<AgentSession> {
    return this.#sessions.openSession({ context: this.context, ...options })
  }

  /** Whether its machine is up, paused or not, at this moment. */
  get isUp(): boolean {
    try {
      return this.#engine.home !== ''
    } catch (error) {
      return isVitrineError(error) && error.code === 'sandbox_paused'
    }
  }

  /** Once it is being closed. */
  get closing(): Promise<void> | undefined {
    return this.#shutdown.closing
  }

  /** Ends its sessions and every process. The workspace and the journal stay. */
  close(): Promise<void> {
    return this.#shutdown.close()
  }

  /** The last thing of a close. */
  afterClose(callback: () => Promise<void>): void {
    this.#shutdown.afterClose(callback)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Whatever ends the machine ends the sessions in it first. */
function withSessions(engine: Lifecycle, shutdown: SandboxShutdown): Lifecycle {
  return {
    async start() {
      shutdown.assertOpen()
      await engine.start()
    },
    stop: () => shutdown.afterSessions('the sandbox was stopped', () => engine.stop()),
    shutdown: () => shutdown.afterSessions('the sandbox was shut down', () => engine.shutdown()),
    pause: () => engine.pause(),
    resume: () => engine.resume(),
    destroy: () => shutdown.destroy(() => engine.destroy()),
    running: () => engine.running(),
    onBeforeStop: (hook) => engine.onBeforeStop(hook),
    skipOnPersist: (path) => engine.skipOnPersist(path),
  }
}
