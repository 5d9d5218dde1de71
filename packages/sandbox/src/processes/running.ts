import { AsyncLocalStorage } from 'node:async_hooks'
import type { Readable } from 'node:stream'
import { type ProcessExit, VitrineError } from '@vitrine/protocol'
import type { LimitHits } from '../cgroups/limit-hits.ts'
import type { WatchedProcess } from '../limits/watched-sandbox.ts'
import type { Launch, Launched, WaitStatus } from '../machine/machine.ts'
import { OutputRecorder, type OutputStream } from '../output/recorder.ts'
import { drainOutput } from './drain-output.ts'
import type { ProcessHost } from './process-host.ts'

export type OutputListener = (stream: OutputStream, chunk: Buffer) => void

export interface RunningProcessOptions {
  readonly id: string
  readonly launch: Launch
  /** More fields for its `process.started` event. */
  readonly context?: Readonly<Record<string, string | number>>
  /** Whether it will be restarted after this exit. */
  readonly restarts?: (exit: ProcessExit) => boolean
  /** Gets the unredacted output, for the caller that started the process. */
  readonly onOutput?: OutputListener
  /** Leaves stdout to the caller, who reads and records it. */
  readonly rawStdout?: boolean
}

/** Why a process is being ended. */
export type EndReason = 'timeout' | 'cancelled' | 'interrupted'

/** One process from its start to its committed exit. */
export class RunningProcess {
  readonly id: string
  readonly pid: number
  readonly tty: boolean
  readonly startedAt: string
  /** Settles once the exit is observed and its event is being committed. */
  readonly observed: Promise<ProcessExit>
  /** Settles once the exit is observed and committed. */
  readonly exit: Promise<ProcessExit>
  readonly #launched: Launched
  readonly #host: ProcessHost
  readonly #recorder: OutputRecorder
  readonly #listeners = new Set<OutputListener>()
  readonly #began = performance.now()
  readonly #hitsBefore: LimitHits | undefined
  readonly #restarts: (exit: ProcessExit) => boolean
  readonly #rawStdout: boolean
  #endReason: EndReason | undefined
  #ended = false
  #restarting = false
  #pipesStillOpen = false

  static async start(host: ProcessHost, options: RunningProcessOptions): Promise<RunningProcess> {
    const before = host.watch?.hits()
    const { watch, machine } = host
    const launched = await (watch?.launch(options.launch, before) ?? machine.launch(options.launch))
    return new RunningProcess(host, launched, options, before)
  }

  private constructor(
    host: ProcessHost,
    launched: Launched,
    options: RunningProcessOptions,
    hitsBefore: LimitHits | undefined,
  ) {
    const { id, launch, context, restarts = () => false, onOutput, rawStdout = false } = options
    this.#restarts = restarts
    this.#rawStdout = rawStdout
    this.id = id
    this.pid = launched.pid
    this.tty = launch.tty !== undefined
    this.startedAt = new Date().toISOString()
    this.#host = host
    this.#launched = launched
    this.#hitsBefore = hitsBefore
    if (onOutput !== undefined) this.#listeners.add(onOutput)
    this.#recorder = new OutputRecorder({
      journal: host.journal,
      process: id,
      budget: host.limits.journalBytes,
      onDrain: () => this.#read(),
    })
    const { argv, cwd, tty, user } = launch
    const started = host.journal.append([
      {
        type: 'process.started',
        data: {
          process: id,
          argv,
          cwd,
          pid: launched.pid,
          tty: tty !== undefined,
          ...(user && { user }),
          ...context,
        },
      },
    ])
    this.#listen()
    const run = this.#run()
    this.observed = run.then(({ exit }) => exit)
    this.exit = run.then(async ({ exit, committed }) => {
      await Promise.all([started, committed])
      return exit
    })
    // A caller that does not await these promises must not crash by an unhandled rejection.
    for (const promise of [started, this.observed, this.exit]) promise.catch(() => undefined)
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Whether its exit event announces a restart. */
  get restarting(): boolean {
    return this.#restarting
  }

  /** The pid on the host of the process at the top of its tree. */
  get top(): number {
    return this.#launched.top
  }

  /** The process as the watch of the limits knows it. */
  get watched(): WatchedProcess {
    const { top, startedAt } = this.#launched
    return { id: this.id, top, startedAt, began: this.#began }
  }

  get terminal() {
    return this.#launched.terminal
  }

  get stdin() {
    return this.#launched.pipes?.stdin
  }

  get stdout() {
    return this.#launched.pipes?.stdout
  }

  onOutput(listener: OutputListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  signal(name: NodeJS.Signals, scope: 'program' | 'tree' = 'program'): void {
    if (this.#ended) throw new VitrineError('process_exited', `Process ${this.id} has exited.`)
    this.#launched.signal(name, scope)
  }

  /** Sets the reason for its exit when something else is about to end it. */
  markEnding(reason: EndReason): void {
    this.#endReason ??= reason
  }

  /** Kills the whole tree, and gives the exit this reason. */
  async kill(reason: EndReason): Promise<ProcessExit> {
    if (!this.#ended) {
      this.#endReason ??= reason
      await this.#launched.killTree()
    }
    return this.exit
  }

  /** Kills the rest of its tree, also after its own exit. */
  endTree(): Promise<void> {
    return this.#launched.killTree()
  }

  /** Sends SIGTERM to its whole tree, and SIGKILL after `graceMs`. */
  async stop(graceMs: number): Promise<ProcessExit> {
    if (!this.#ended) {
      this.#endReason ??= 'cancelled'
      await this.#launched.stopTree(graceMs)
    }
    return this.exit
  }

  #listen(): void {
    const { pipes, terminal } = this.#launched
    // The pipes arrive in another async context; bind the output to the operation that started the process.
    const take = AsyncLocalStorage.bind((stream: OutputStream, bytes: Buffer) => this.#take(stream, bytes))
    terminal?.onData((bytes) => take('terminal', bytes))
    if (!this.#rawStdout) pipes?.stdout.on('data', (bytes: Buffer) => take('stdout', bytes))
    pipes?.stderr.on('data', (bytes: Buffer) => take('stderr', bytes))
    for (const pipe of this.#pipes()) pipe.on('error', () => undefined)
  }

  #pipes(): Readable[] {
    const { pipes } = this.#launched
    if (pipes === undefined) return []
    return this.#rawStdout ? [pipes.stderr] : [pipes.stdout, pipes.stderr]
  }

  #take(stream: OutputStream, bytes: Buffer): void {
    // Output of a grandchild after the process's exit is discarded.
    if (this.#pipesStillOpen) return
    for (const listener of this.#listeners) listener(stream, bytes)
    this.#recorder.take(stream, bytes)
    if (this.#recorder.full) this.#pause()
  }

  #pause(): void {
    this.#launched.terminal?.pause()
    for (const pipe of this.#pipes()) pipe.pause()
  }

  #read(): void {
    this.#launched.terminal?.resume()
    for (const pipe of this.#pipes()) pipe.resume()
  }

  async #run(): Promise<{ exit: ProcessExit; committed: Promise<unknown> }> {
    const ending = await this.#launched.ended
    await this.#drainOutput()
    await this.#recorder.end()
    const exit = await this.#withLimit(exitOf(ending, this.#endReason))
    const { bytes, skipped } = this.#recorder
    this.#restarting = this.#restarts(exit)
    // Not awaited, so that it is committed in one transaction with the caller's next event.
    const committed = this.#host.journal.append([
      {
        type: 'process.exited',
        data: {
          process: this.id,
          ...withLimitName(exit),
          durationMs: Math.round((performance.now() - this.#began) * 1_000) / 1_000,
          bytes,
          ...(skipped > 0 && { skipped }),
          ...(this.#pipesStillOpen && { pipesStillOpen: true }),
          ...(this.#restarting && { restarting: true }),
          ...(exit.outcome === 'interrupted' && {
            errorCode: 'interrupted',
            errorMessage: 'The sandbox ended.',
          }),
        },
      },
    ])
    committed.catch(() => undefined)
    this.#ended = true
    return { exit, committed }
  }

  async #withLimit(exit: ProcessExit): Promise<ProcessExit> {
    const { watch } = this.#host
    if (watch === undefined || this.#hitsBefore === undefined) return exit
    try {
      const limit = await watch.exited(this.watched, this.#hitsBefore, exit)
      return limit === undefined ? exit : { ...exit, limit }
    } catch {
      return exit
    }
  }

  /**
   * Reads all output that was written before the exit. A pipe that another process keeps open is not waited for: it is
   * drained from then on, so that the other process does not block on a full pipe.
   */
  async #drainOutput(): Promise<void> {
    const { terminal } = this.#launched
    const open = this.#pipes().filter((pipe) => !pipe.closed)
    if (open.length === 0 && terminal === undefined) return
    const closed = terminal === undefined ? Promise.all(open.map(closing)) : terminal.closed
    const state = () => ({ bytes: this.#recorder.bytes, behind: this.#recorder.full })
    if ((await drainOutput(closed, state)) === 'closed') return
    this.#pipesStillOpen = true
    this.#listeners.clear()
    terminal?.close()
    for (const pipe of open) {
      pipe.resume()
      if ('unref' in pipe && typeof pipe.unref === 'function') pipe.unref()
    }
  }
}

/** The fields of an exit for its event. */
function withLimitName({ limit, ...exit }: ProcessExit) {
  return limit === undefined ? exit : { ...exit, limit: limit.limit, errorMessage: limit.message }
}

function closing(pipe: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (pipe.closed) resolve()
    else pipe.once('close', () => resolve())
  })
}

/** The exit of a process from its wait status, with our reason if our signal ended it. */
export function exitOf({ code, signal }: WaitStatus, reason: EndReason | undefined): ProcessExit {
  const status = { exitCode: code, signal }
  if (reason === 'interrupted' || (code === null && signal === null))
    return { outcome: 'interrupted', exitCode: null, signal: null }
  // A process that exits with a code, even after SIGTERM, keeps that exit code as its outcome.
  if (reason !== undefined && signal !== null) return { ...status, outcome: reason }
  return { ...status, outcome: code === 0 ? 'ok' : 'failed' }
}
