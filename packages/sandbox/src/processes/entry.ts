import { setTimeout as sleep } from 'node:timers/promises'
import { type ProcessExit, type ProcessInfo, type SpawnOptions, toVitrineError } from '@vitrine/protocol'
import { Backoff } from '@vitrine/protocol/primitives'
import type { Launch } from '../machine/machine.ts'
import { Viewers } from '../output/viewers.ts'
import type { ProcessHost } from './process-host.ts'
import { type EndReason, type OutputListener, RunningProcess, type RunningProcessOptions } from './running.ts'

const firstBackoffMs = 250
const lastBackoffMs = 30_000
/** A process that ran at least this long before it failed is restarted with the first backoff again. */
const healthyMs = 10_000

export interface EntryOptions {
  readonly id: string
  readonly launch: Launch
  readonly owner?: string | undefined
  readonly restart?: SpawnOptions['restart']
  readonly onOutput?: OutputListener
  readonly rawStdout?: boolean
  /** Whether the table keeps the process after its exit, so that it can be listed with its exit status. */
  readonly remember: boolean
}

/** A process as the process table lists it: one entry for all its restarts. */
export class ProcessEntry {
  readonly id: string
  readonly owner: string | undefined
  readonly argv: readonly string[]
  readonly remember: boolean
  readonly viewers = new Viewers()
  /** Input bytes that the process has not read yet. */
  inputWaiting = 0
  /** Settles when it has ended and is not restarted. */
  readonly exit: Promise<ProcessExit>
  readonly #host: ProcessHost
  readonly #options: EntryOptions
  readonly #cancelled = new AbortController()
  #current: RunningProcess
  #state: ProcessInfo['state'] = 'running'
  #lastExit: ProcessExit | undefined
  #restarts = 0
  #endedBeforeRestart = false

  static async start(host: ProcessHost, options: EntryOptions): Promise<ProcessEntry> {
    const waiting: { entry?: ProcessEntry; early: Parameters<OutputListener>[] } = { early: [] }
    const listener: OutputListener = (...output) => {
      if (waiting.entry === undefined) waiting.early.push(output)
      else waiting.entry.#output(...output)
    }
    const restarts = (exit: ProcessExit) =>
      waiting.entry === undefined ? false : waiting.entry.#willRestart(exit)
    const first = await run(host, options, 0, { onOutput: listener, restarts })
    const entry = new ProcessEntry(host, options, first)
    waiting.entry = entry
    for (const output of waiting.early) entry.#output(...output)
    return entry
  }

  private constructor(host: ProcessHost, options: EntryOptions, first: RunningProcess) {
    this.id = options.id
    this.owner = options.owner
    this.argv = options.launch.argv
    this.remember = options.remember
    this.#host = host
    this.#options = options
    this.#current = first
    this.exit = this.#runUntilFinished().catch((error: unknown) => {
      this.#close()
      throw error
    })
    this.exit.catch(() => undefined)
  }

  get current(): RunningProcess {
    return this.#current
  }

  get exited(): boolean {
    return this.#state === 'exited'
  }

  /** Whether it was ended while it waited for a restart that its last exit event announced. */
  get endedBeforeRestart(): boolean {
    return this.#endedBeforeRestart
  }

  info(): ProcessInfo {
    const { pid, tty, startedAt } = this.#current
    return {
      id: this.id,
      argv: this.argv,
      pid,
      tty,
      startedAt,
      state: this.#state,
      restarts: this.#restarts,
      ...(this.owner !== undefined && { owner: this.owner }),
      ...(this.#lastExit !== undefined && { exit: this.#lastExit }),
    }
  }

  /** Marks that the machine is about to end it: it is not restarted, and its exit gets this reason. */
  markEnding(reason: EndReason): void {
    this.#cancelled.abort()
    this.#current.markEnding(reason)
  }

  kill(reason: EndReason): Promise<ProcessExit> {
    this.#cancelled.abort()
    return this.#current.ended ? this.exit : this.#current.kill(reason).then(() => this.exit)
  }

  stop(graceMs: number): Promise<ProcessExit> {
    this.#cancelled.abort()
    return this.#current.ended ? this.exit : this.#current.stop(graceMs).then(() => this.exit)
  }

  #output(...[stream, bytes]: Parameters<OutputListener>): void {
    this.viewers.take(stream, bytes)
    this.#options.onOutput?.(stream, bytes)
  }

  async #runUntilFinished(): Promise<ProcessExit> {
    const backoff = new Backoff(firstBackoffMs, lastBackoffMs)
    for (;;) {
      const began = performance.now()
      const exit = await this.#current.exit
      this.#lastExit = exit
      if (!this.#willRestart(exit)) return this.#finish(exit)
      if (performance.now() - began > healthyMs) backoff.reset()
      this.#state = 'waiting'
      do {
        const options = { signal: this.#cancelled.signal, ref: false }
        await sleep(backoff.next(), undefined, options).catch(() => undefined)
        if (!this.#willRestart(exit)) return this.#finish(exit)
      } while (!(await this.#restart()))
    }
  }

  /** Resolves to false if it could not be started; the caller tries again later. */
  async #restart(): Promise<boolean> {
    const onOutput: OutputListener = (...output) => this.#output(...output)
    const restarts = (ended: ProcessExit) => this.#willRestart(ended)
    this.#restarts += 1
    try {
      this.#current = await run(this.#host, this.#options, this.#restarts, { onOutput, restarts })
    } catch (error) {
      const message = `Process ${this.id} could not be started again: ${toVitrineError(error).message}`
      await this.#host.journal
        .append([{ type: 'log.message', data: { level: 'warn', message, process: this.id } }])
        .catch(() => undefined)
      return false
    }
    this.#state = 'running'
    // It was cancelled while it was being started, when there was no process to kill yet.
    if (this.#cancelled.signal.aborted) void this.#current.kill('cancelled').catch(() => undefined)
    return true
  }

  #willRestart({ outcome }: ProcessExit): boolean {
    if (this.#cancelled.signal.aborted) return false
    const { restart = 'never' } = this.#options
    return restart === 'always' || (restart === 'on-failure' && outcome === 'failed')
  }

  #close(): void {
    this.#state = 'exited'
    this.viewers.end()
  }

  #finish(exit: ProcessExit): ProcessExit {
    this.#endedBeforeRestart = this.#current.restarting
    this.#close()
    return exit
  }
}

function run(
  host: ProcessHost,
  { id, launch, owner, restart = 'never', rawStdout = false }: EntryOptions,
  restarts: number,
  hooks: Pick<RunningProcessOptions, 'onOutput' | 'restarts'>,
): Promise<RunningProcess> {
  const context = {
    ...(owner !== undefined && { owner }),
    ...(restart !== 'never' && { restart }),
    ...(restarts > 0 && { restarts }),
  }
  return RunningProcess.start(host, { id, launch, context, rawStdout, ...hooks })
}
