import type { AgentSession, OpenOptions, SandboxSessions } from '@vitrine/agents'
import type {
  ByteStream,
  Capabilities,
  Command,
  EventInput,
  ExecOptions,
  ExecResult,
  Files,
  HostCallContext,
  JournalOrigin,
  Ports,
  Process,
  Processes,
  PtyStart,
  PtyUpdate,
  PtyWrite,
  RecordOptions,
  SpawnOptions,
  Unpacked,
} from '@vitrine/protocol'
import type { LiveReads, PrivateTarget, SandboxEnd, SandboxEngine } from '@vitrine/sandbox'
import type { HostLifecycle, HostSandbox } from './host-sandbox.ts'
import type { LastingSettings } from './lasting-settings.ts'
import type { AutoStopReason } from './life-times/next-due.ts'
import type { AutoStoppable } from './life-times/sandbox-life.ts'
import { callsThrough, type SandboxUses } from './life-times/sandbox-uses.ts'
import type { SandboxShutdown } from './sandbox-shutdown.ts'

export interface EngineSandboxParts {
  readonly engine: SandboxEngine
  readonly sessions: SandboxSessions
  readonly shutdown: SandboxShutdown
  readonly lasting: LastingSettings
  /** Present if its host may stop it until its next use. */
  readonly uses: SandboxUses | undefined
}

/** A sandbox engine together with its agent sessions. */
export class EngineSandbox implements HostSandbox, AutoStoppable {
  readonly id: string
  readonly provider: string
  readonly root: string
  readonly lifecycle: HostLifecycle
  readonly files: Files
  readonly ports: Ports
  readonly sessions: SandboxSessions
  readonly #parts: EngineSandboxParts
  readonly #engine: SandboxEngine
  readonly #shutdown: SandboxShutdown
  /** Attached to every operation that goes through this handle. */
  readonly context: HostCallContext

  constructor(parts: EngineSandboxParts, context: HostCallContext = {}) {
    const { engine, sessions, shutdown, uses } = parts
    this.id = engine.id
    this.provider = engine.provider
    this.root = engine.root
    this.#parts = parts
    this.#engine = engine
    this.#shutdown = shutdown
    this.context = context
    this.lifecycle = hostLifecycle(parts)
    const wrapped = <Target extends object>(target: Target, isUse: (method: string | symbol) => boolean) =>
      uses === undefined ? target : callsThrough(target, isUse, (call) => this.#use(call))
    // A watch reads the journal.
    this.files = wrapped(engine.files, (method) => method !== 'watch')
    this.ports = wrapped(engine.ports, () => true)
    this.sessions = wrapped(sessions, (method) => method === 'resume' || method === 'resumeOrCreate')
  }

  /** Runs a call that needs the machine. */
  #use<Result>(call: () => Result | PromiseLike<Result>): Promise<Awaited<Result>> {
    const { uses } = this.#parts
    return uses === undefined ? Promise.resolve(call()) : uses.run(call, () => this.lifecycle.start())
  }

  get capabilities(): Capabilities {
    return this.#engine.capabilities
  }

  get journal(): JournalOrigin {
    return this.#engine.journal
  }

  /** Reads of the live state that are not recorded. */
  get look(): LiveReads | undefined {
    return this.#engine.look
  }

  get processes(): Processes {
    return this.#engine.processes
  }

  /** Appends text to a file of the workspace without an operation and without file events, in any state. */
  appendPrivately(path: string, text: string, directory?: PrivateTarget['directory']): void {
    this.#engine.appendPrivately(path, text, directory)
  }

  as(context: HostCallContext): this {
    const all = { ...this.context, ...context }
    // The cast holds because the class has no subclasses.
    return new EngineSandbox({ ...this.#parts, engine: this.#engine.as(context) }, all) as this
  }

  exec(command: Command, options?: ExecOptions): Promise<ExecResult> {
    return this.#use(() => this.#engine.exec(command, options))
  }

  spawn(command: Command, options?: SpawnOptions): Promise<Process> {
    return this.#use(() => this.#engine.spawn(command, options))
  }

  ptyExecStart(start: PtyStart): Promise<PtyUpdate> {
    return this.#use(() => this.#engine.ptyExecStart(start))
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
    return this.#use(() => this.#engine.persist(options))
  }

  hydrate(archive: ByteStream | Uint8Array, options?: { readonly signal?: AbortSignal }): Promise<Unpacked> {
    return this.#use(() => this.#engine.hydrate(archive, options))
  }

  record(events: readonly EventInput[], options?: RecordOptions): Promise<void> {
    return this.#engine.record(events, options)
  }

  openSession(options: OpenOptions): Promise<AgentSession> {
    return this.#use(() => this.#parts.sessions.openSession({ context: this.context, ...options }))
  }

  /** Whether the machine is running or paused. */
  get isUp(): boolean {
    const { state } = this.#engine
    return state === 'running' || state === 'paused'
  }

  get isAutoStopped(): boolean {
    return this.#parts.uses?.isAutoStopped ?? false
  }

  get isInUse(): boolean {
    return (this.#parts.uses?.inFlight ?? 0) > 0
  }

  /**
   * Stops the sandbox until its next use. Resolves to false if it was to be stopped for being idle, but has a call or a
   * prompt that its journal does not show yet.
   */
  async autoStop(reason: AutoStopReason): Promise<boolean> {
    const { uses, sessions } = this.#parts
    if (uses === undefined || (reason === 'idle' && (uses.inFlight > 0 || sessions.isBusy))) return false
    await uses.autoStop(() => stop(this.#parts, reason))
    return true
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
function hostLifecycle(parts: EngineSandboxParts): HostLifecycle {
  const { shutdown, lasting, uses } = parts
  const engine = parts.engine.lifecycle
  const ownersStop = (end: () => Promise<void>) => (uses === undefined ? end() : uses.ownersStop(end))
  return {
    async start() {
      await uses?.stopEnded()
      shutdown.assertOpen()
      await engine.start()
      uses?.started()
    },
    stop: () => ownersStop(() => stop(parts)),
    shutdown: () =>
      ownersStop(() => shutdown.afterSessions('the sandbox was shut down', () => engine.shutdown())),
    pause: () => engine.pause(),
    resume: () => engine.resume(),
    destroy: (reason) => shutdown.destroy(() => engine.destroy(reason)),
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

/** Ends the sessions, then stops the machine, with the reason of `sandbox.stopped`. */
function stop({ engine, shutdown, lasting }: EngineSandboxParts, reason?: AutoStopReason): Promise<void> {
  const { lifecycle } = engine
  return shutdown.afterSessions('the sandbox was stopped', async () => {
    try {
      // The hooks before the stop need a machine that runs: without it they would fail, and block persisting for good.
      if (reason !== undefined && engine.state === 'paused') await lifecycle.resume()
      await lifecycle.stop(reason)
    } finally {
      if (lifecycle.persistenceBlocked) lasting.blockPersistence()
    }
  })
}
