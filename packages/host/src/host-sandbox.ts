import type { AgentSession, OpenOptions, SandboxSessions } from '@vitrine/agents'
import type {
  CallContext,
  Capabilities,
  Command,
  EventInput,
  ExecOptions,
  ExecResult,
  Files,
  JournalReader,
  Lifecycle,
  Ports,
  Process,
  Processes,
  Sandbox,
  SpawnOptions,
  Unpacked,
} from '@vitrine/protocol'
import type { LocalSandbox } from '@vitrine/sandbox'

/** An engine with agents in it. */
export class HostSandbox implements Sandbox, AsyncDisposable {
  readonly id: string
  readonly provider: string
  readonly root: string
  readonly lifecycle: Lifecycle
  readonly #engine: LocalSandbox
  readonly #sessions: SandboxSessions
  readonly #onDestroyed: () => void
  readonly #ends: (() => Promise<void>)[]

  constructor(
    engine: LocalSandbox,
    sessions: SandboxSessions,
    onDestroyed: () => void,
    ends: (() => Promise<void>)[] = [],
  ) {
    this.#ends = ends
    this.id = engine.id
    this.provider = engine.provider
    this.root = engine.root
    this.#engine = engine
    this.#sessions = sessions
    this.#onDestroyed = onDestroyed
    this.lifecycle = withSessions(engine.lifecycle, sessions, onDestroyed)
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
    // Nothing inherits from it: it is exactly this class.
    return new HostSandbox(this.#engine.as(context), this.#sessions, this.#onDestroyed, this.#ends) as this
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
    return this.#sessions.openSession(options)
  }

  /** Ends its sessions and every process. The workspace and the journal stay. */
  async close(): Promise<void> {
    await this.#sessions.endAll('the sandbox was closed')
    await this.#engine.close()
    for (const end of this.#ends.splice(0)) await end()
  }

  /** The last thing of a close. */
  endWith(end: () => Promise<void>): void {
    this.#ends.push(end)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Whatever ends the machine ends the sessions in it first. */
function withSessions(engine: Lifecycle, sessions: SandboxSessions, onDestroyed: () => void): Lifecycle {
  return {
    start: () => engine.start(),
    async stop() {
      await sessions.endAll('the sandbox was stopped')
      await engine.stop()
    },
    async shutdown() {
      await sessions.endAll('the sandbox was shut down')
      await engine.shutdown()
    },
    pause: () => engine.pause(),
    resume: () => engine.resume(),
    async destroy() {
      await sessions.endAll('the sandbox was destroyed')
      await engine.destroy()
      onDestroyed()
    },
    running: () => engine.running(),
    onBeforeStop: (hook) => engine.onBeforeStop(hook),
    skipOnPersist: (path) => engine.skipOnPersist(path),
  }
}
