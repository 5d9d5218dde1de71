import type { Journal } from '@vitrine/journal'
import type { LogChunk, LogOptions, Process, ProcessExit, Processes, ProcessInfo } from '@vitrine/protocol'
import { checkOptions, processOptions } from '@vitrine/protocol/options'
import { ProcessHandle } from '../processes/handle.ts'
import { followLogs, readLogs, wasStarted } from '../processes/logs.ts'
import type { EngineCore } from './core.ts'

/** The processes of one sandbox, by id. Every call is an operation. */
export class SandboxProcesses implements Processes {
  readonly #core: EngineCore
  readonly #journal: Journal

  constructor(core: EngineCore, journal: Journal) {
    this.#core = core
    this.#journal = journal
  }

  list(): Promise<readonly ProcessInfo[]> {
    return this.#journal.operate(
      'process_list',
      {},
      () => this.#core.table.list().map((entry) => entry.info()),
      {
        finish: (found) => ({ count: found.length }),
      },
    )
  }

  get(id: string): Promise<ProcessInfo> {
    return this.#journal.operate('process_get', { process: id }, () => this.#core.table.get(id).info())
  }

  async logs(id: string, options: LogOptions = {}): Promise<readonly LogChunk[]> {
    checkOptions('processes.logs', processOptions.logs, options)
    return this.#journal.operate(
      'process_logs',
      { process: id },
      async () => {
        await this.#assertKnown(id)
        return readLogs(this.#journal, id, options)
      },
      {
        finish: (chunks) => ({ count: chunks.length }),
      },
    )
  }

  follow(id: string, options: LogOptions = {}): AsyncIterableIterator<LogChunk> {
    checkOptions('processes.follow', processOptions.logs, options)
    return this.#following(id, options)
  }

  async *#following(id: string, options: LogOptions): AsyncGenerator<LogChunk, undefined> {
    const callerSignal = options.signal
    const entry = this.#core.table.has(id) ? this.#core.table.get(id) : undefined
    await this.#journal.operate('process_follow', { process: id }, () => this.#assertKnown(id))
    if (entry === undefined || entry.exited) {
      yield* await readLogs(this.#journal, id, options)
      return
    }
    // A process that is ended while it waits for a restart writes no further exit event.
    const ended = new AbortController()
    const stop = () => {
      if (entry?.endedBeforeRestart === true) ended.abort()
    }
    // An exit event that could not be written will never arrive.
    void entry.exit.then(stop, () => ended.abort())
    const signal = callerSignal === undefined ? ended.signal : AbortSignal.any([callerSignal, ended.signal])
    yield* followLogs(this.#journal, id, { ...options, signal })
  }

  /** Throws unless the process is in the table or was ever started according to the journal. */
  async #assertKnown(id: string): Promise<void> {
    if (this.#core.table.has(id) || (await wasStarted(this.#journal, id))) return
    this.#core.table.get(id)
  }

  input(id: string, data: string | Uint8Array): Promise<void> {
    return this.#on(id, (process) => process.input(data))
  }

  resize(id: string, cols: number, rows: number): Promise<void> {
    return this.#on(id, (process) => process.resize(cols, rows))
  }

  signal(id: string, name: string): Promise<void> {
    return this.#on(id, (process) => process.signal(name))
  }

  stop(id: string, options?: { readonly graceMs?: number }): Promise<ProcessExit> {
    return this.#on(id, (process) => process.stop(options))
  }

  kill(id: string): Promise<ProcessExit> {
    return this.#on(id, (process) => process.kill())
  }

  attach(id: string): Promise<Process> {
    return this.#journal.operate('process_attach', { process: id }, () => this.#handle(id))
  }

  remove(id: string): Promise<void> {
    return this.#journal.operate('process_remove', { process: id }, () => this.#core.table.remove(id))
  }

  async #on<T>(id: string, call: (process: Process) => Promise<T>): Promise<T> {
    return call(this.#handle(id))
  }

  #handle(id: string): ProcessHandle {
    return new ProcessHandle(this.#core.table.get(id), this.#journal, this.#core.settings.processLimits)
  }
}
