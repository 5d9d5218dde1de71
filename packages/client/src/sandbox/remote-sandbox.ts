import type {
  ByteStream,
  CallContext,
  Capabilities,
  Command,
  EventInput,
  ExecOptions,
  ExecResult,
  OpenSessionOptions,
  Process,
  PtyStart,
  PtyUpdate,
  PtyWrite,
  RecordOptions,
  Sandbox,
  SpawnOptions,
  Unpacked,
} from '@vitrine/protocol'
import { ObserverErrors } from '@vitrine/protocol/primitives'
import { RemoteFiles } from '../files/remote-files.ts'
import type { HttpClient } from '../http/http-client.ts'
import { checkKeys, withFields } from '../http/options.ts'
import { retryIdempotent } from '../http/poll.ts'
import { requestJson, requestVoid } from '../http/request.ts'
import { requestBody } from '../http/request-body.ts'
import { requestBytes } from '../http/response-body.ts'
import { RemoteJournal } from '../journal/remote-journal.ts'
import { exec } from '../processes/exec.ts'
import { RemoteProcesses } from '../processes/remote-processes.ts'
import { spawn } from '../processes/spawn.ts'
import type { RemoteSession } from '../sessions/remote-session.ts'
import { RemoteSessions } from '../sessions/remote-sessions.ts'
import { connectTerminal, type RemoteTerminal } from '../terminals/connect-terminal.ts'
import type { SandboxDescription } from './description.ts'
import { RemoteLifecycle } from './lifecycle.ts'
import { RemotePorts } from './ports.ts'

/** Retries of events that may be sent again. */
const maxRetries = 5

/** A sandbox of a daemon. */
export class RemoteSandbox implements Sandbox, AsyncDisposable {
  readonly id: string
  readonly provider: string
  readonly root: string
  readonly capabilities: Capabilities
  readonly journal: RemoteJournal
  readonly processes: RemoteProcesses
  readonly files: RemoteFiles
  readonly ports: RemotePorts
  readonly lifecycle: RemoteLifecycle
  readonly sessions: RemoteSessions
  readonly #http: HttpClient
  readonly #description: SandboxDescription
  readonly #observerErrors: ObserverErrors

  /** `http` is scoped to the sandbox. */
  constructor(http: HttpClient, description: SandboxDescription) {
    const { id, provider, root, capabilities } = description
    this.id = id
    this.provider = provider
    this.root = root
    this.capabilities = capabilities
    this.journal = new RemoteJournal(id, http)
    this.processes = new RemoteProcesses(http)
    this.ports = new RemotePorts(http)
    this.lifecycle = new RemoteLifecycle(http)
    this.#http = http
    this.#description = description
    this.#observerErrors = new ObserverErrors({
      onObserverError: http.onObserverError,
      log: (event) => this.record([event]),
    })
    this.files = new RemoteFiles(http, this.#observerErrors)
    this.sessions = new RemoteSessions(http, this.#observerErrors)
  }

  as(context: CallContext): this {
    checkKeys('as', context, { run: true, session: true, turn: true, actor: true, traceparent: true })
    // The cast holds because the class has no subclasses.
    return new RemoteSandbox(this.#http.as(context), this.#description) as this
  }

  exec(command: Command, options: ExecOptions = {}): Promise<ExecResult> {
    return exec(this.#http, command, options)
  }

  spawn(command: Command, options: SpawnOptions = {}): Promise<Process> {
    return spawn(this.#http, command, options)
  }

  persist({ signal, ...query }: { readonly signal?: AbortSignal } = {}): Promise<ReadableStream<Uint8Array>> {
    return requestBytes(this.#http, { path: ['workspace'], query, signal, limitMs: 'none' })
  }

  async hydrate(
    archive: ByteStream | Uint8Array,
    { signal, ...query }: { readonly signal?: AbortSignal } = {},
  ): Promise<Unpacked> {
    const bytes = requestBody('archive', archive)
    return requestJson(this.#http, { method: 'PUT', path: ['workspace'], query, bytes, signal })
  }

  ptyExecStart(start: PtyStart): Promise<PtyUpdate> {
    return requestJson(this.#http, { method: 'POST', path: ['pty', 'start'], json: start })
  }

  ptyWriteStdin(write: PtyWrite): Promise<PtyUpdate> {
    return requestJson(this.#http, { method: 'POST', path: ['pty', 'write'], json: write })
  }

  ptyTerminateAll(): Promise<void> {
    return requestVoid(this.#http, { method: 'POST', path: ['pty', 'terminate'] })
  }

  /** Events with an id are sent again when the connection fails. */
  record(events: readonly EventInput[], options: RecordOptions = {}): Promise<void> {
    const json = withFields('record', options, { events })
    const send = () => requestVoid(this.#http, { method: 'POST', path: ['events'], json })
    return options.id === undefined ? send() : retryIdempotent(this.#http, maxRetries, send)
  }

  openSession(options: OpenSessionOptions): Promise<RemoteSession> {
    return this.sessions.open(options)
  }

  /** Ends the connections of this handle, also of its sessions, terminals and tails. The sandbox keeps running. */
  async close(): Promise<void> {
    this.#http.closeHandle()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Opens the terminal of a process that was spawned with `tty`, over a WebSocket. */
  openTerminal(process: string): RemoteTerminal {
    return connectTerminal(this.#http, process, this.#observerErrors)
  }
}
