import type { Journal } from '@vitrine/journal'
import type {
  Capabilities,
  Command,
  EventInput,
  ExecOptions,
  ExecResult,
  Files,
  HostCallContext,
  JournalOrigin,
  Lifecycle,
  Ports,
  Process,
  Processes,
  ProvidedSandbox,
  PtyStart,
  PtyUpdate,
  PtyWrite,
  RecordOptions,
  Sandbox,
  SpawnOptions,
  Unpacked,
} from '@vitrine/protocol'
import type { SandboxEnd } from '@vitrine/sandbox'
import type { HostSandbox, HostSession } from '../host-sandbox.ts'
import { refuseUntaken } from '../untaken-options.ts'
import { callContextOf } from './call-context.ts'
import { type MirroredBy, mirroredCall, mirroredCalls } from './mirrored-calls.ts'
import type { ProvidedLife } from './provided-life.ts'
import { ProvidedSessions, ProvidedTurns } from './provided-sessions.ts'

export interface ProvidedHandleOptions extends MirroredBy {
  /** The sandbox as the provider returned it. */
  readonly opened: ProvidedSandbox
  readonly life: ProvidedLife
  /** The host's copy of its journal. */
  readonly journal: Journal
}

/** A sandbox that a provider has opened, as a sandbox of the host. */
export class ProvidedHandle implements HostSandbox {
  readonly id: string
  readonly provider: string
  readonly root: string
  readonly capabilities: Capabilities
  readonly journal: JournalOrigin
  readonly lifecycle: Lifecycle
  readonly sessions: ProvidedSessions
  readonly context: HostCallContext
  /** Its live state is at the provider; the host shows its journal. */
  readonly look = undefined
  readonly isAutoStopped = false
  readonly isInUse = false
  readonly #sandbox: Sandbox
  readonly #called: Sandbox
  readonly #options: ProvidedHandleOptions
  readonly #turns: ProvidedTurns

  constructor(
    sandbox: Sandbox,
    options: ProvidedHandleOptions,
    context: HostCallContext = {},
    turns = new ProvidedTurns(),
  ) {
    const { id, root, capabilities } = options.opened
    this.id = id
    this.provider = options.calls.provider.name
    this.root = root
    this.capabilities = capabilities
    this.journal = options.journal
    this.context = context
    this.#sandbox = sandbox
    this.#options = options
    this.#turns = turns
    this.#called = mirroredCalls(sandbox, 'sandbox', options)
    this.lifecycle = providedLifecycle(sandbox, options, context)
    this.sessions = new ProvidedSessions(sandbox, turns, options)
  }

  get files(): Files {
    return mirroredCalls(this.#sandbox.files, 'files', this.#options)
  }

  get processes(): Processes {
    return mirroredCalls(this.#sandbox.processes, 'processes', this.#options)
  }

  get ports(): Ports {
    return mirroredCalls(this.#sandbox.ports, 'ports', this.#options)
  }

  get isUp(): boolean {
    return this.#options.life.isUp
  }

  get closing(): Promise<void> | undefined {
    return this.#options.life.closing
  }

  as(context: HostCallContext): this {
    const all = { ...this.context, ...context }
    const sandbox = this.#called.as(callContextOf(context))
    // The cast holds because the class has no subclasses.
    return new ProvidedHandle(sandbox, this.#options, all, this.#turns) as this
  }

  exec(command: Command, options?: ExecOptions): Promise<ExecResult> {
    return this.#called.exec(command, options)
  }

  spawn(command: Command, options?: SpawnOptions): Promise<Process> {
    return this.#called.spawn(command, options)
  }

  ptyExecStart(start: PtyStart): Promise<PtyUpdate> {
    return this.#called.ptyExecStart(start)
  }

  ptyWriteStdin(write: PtyWrite): Promise<PtyUpdate> {
    return this.#called.ptyWriteStdin(write)
  }

  ptyTerminateAll(): Promise<void> {
    return this.#called.ptyTerminateAll()
  }

  persist(options?: { readonly signal?: AbortSignal }): Promise<ReadableStream<Uint8Array>> {
    return this.#called.persist(options)
  }

  hydrate(
    archive: ReadableStream<Uint8Array> | Uint8Array,
    options?: { readonly signal?: AbortSignal },
  ): Promise<Unpacked> {
    return this.#called.hydrate(archive, options)
  }

  record(events: readonly EventInput[], options?: RecordOptions): Promise<void> {
    return this.#called.record(events, options)
  }

  openSession(options: Parameters<HostSandbox['openSession']>[0]): Promise<HostSession> {
    return this.sessions.openSession({ context: this.context, ...options })
  }

  /** The provider has its secrets, so none can be given again. */
  async replaceSecrets(secrets: Readonly<Record<string, string>>): Promise<void> {
    if (Object.keys(secrets).length > 0) refuseUntaken(this.provider, { secrets })
  }

  close(): Promise<void> {
    return this.#options.life.close()
  }

  afterEnd(step: (end: SandboxEnd) => Promise<void>): void {
    this.#options.life.afterEnd(step)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function providedLifecycle(
  sandbox: Sandbox,
  options: ProvidedHandleOptions,
  context: HostCallContext,
): Lifecycle {
  const { life } = options
  const called = () => mirroredCalls(sandbox.lifecycle, 'lifecycle', options)
  return {
    async start() {
      await called().start()
      life.isUp = true
    },
    async stop() {
      await called().stop()
      life.isUp = false
    },
    async shutdown() {
      await called().shutdown()
      life.isUp = false
    },
    pause: () => mirroredCall('lifecycle.pause', life.change('pause', context), options),
    resume: () => mirroredCall('lifecycle.resume', life.change('resume', context), options),
    destroy: () => life.destroy(context),
    running: () => called().running(),
    onBeforeStop: (hook) => called().onBeforeStop(hook),
    skipOnPersist: (path) => called().skipOnPersist(path),
  }
}
