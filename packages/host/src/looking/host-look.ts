import {
  type ChangedFileList,
  type JournalReader,
  type LogChunk,
  type LogOptions,
  type LookOptions,
  type PortInfo,
  type ProcessInfo,
  type SandboxLook,
  type SessionDetail,
  type SessionSummary,
  VitrineError,
} from '@vitrine/protocol'
import { checkOptions, hostOptions, processOptions } from '@vitrine/protocol/options'
import { readLogs, wasStarted } from '@vitrine/sandbox'
import {
  changedFilesView,
  listChangedFiles,
  listProcesses,
  listSessions,
  processListView,
  sessionEventTypes,
  sessionsView,
} from '@vitrine/views'
import type { HostSandbox } from '../host-sandbox.ts'
import { readView } from './read-view.ts'
import { recordedProcess } from './recorded-process.ts'
import { pendingOf, summaryOf } from './session-summaries.ts'

/** Reads of a sandbox that start nothing and leave nothing in its journal. */
export class HostLook implements SandboxLook {
  readonly id: string
  readonly journal: JournalReader
  readonly #live: () => HostSandbox | undefined

  /** `live` returns the sandbox while its machine runs or is paused. */
  constructor(journal: JournalReader, live: () => HostSandbox | undefined = () => undefined) {
    this.id = journal.id
    this.journal = journal
    this.#live = live
  }

  readonly sessions = {
    list: async (options: LookOptions = {}): Promise<readonly SessionSummary[]> => {
      checkOptions('sessions.list', hostOptions.look, options)
      const list = await readView(this.journal, sessionsView(), { types: sessionEventTypes, ...options })
      const live = this.#live()?.sessions
      return listSessions(list).flatMap((session) => summaryOf(session, live?.look(session.id)) ?? [])
    },
    get: async (id: string, options: LookOptions = {}): Promise<SessionDetail> => {
      checkOptions('sessions.get', hostOptions.look, options)
      const query = { types: sessionEventTypes, session: id, ...options }
      const [session] = listSessions(await readView(this.journal, sessionsView(), query))
      const open = this.#live()?.sessions.look(id)
      const summary = session && summaryOf(session, open)
      if (summary === undefined)
        throw new VitrineError('session_not_found', `There is no session ${id} in this sandbox.`)
      return { ...summary, ...pendingOf(summary, open) }
    },
  }

  readonly processes = {
    list: async (options: LookOptions = {}): Promise<readonly ProcessInfo[]> => {
      checkOptions('processes.list', hostOptions.look, options)
      return this.#live()?.look?.processes() ?? this.#recordedProcesses(options)
    },
    get: async (id: string, options: LookOptions = {}): Promise<ProcessInfo> => {
      checkOptions('processes.get', hostOptions.look, options)
      const live = this.#live()?.look
      if (live !== undefined) return live.process(id)
      const found = (await this.#recordedProcesses({ text: id, ...options })).find((one) => one.id === id)
      if (found === undefined) throw noProcess(id)
      return found
    },
    /** The output of a process of a sandbox that does not run, from the journal. */
    logs: async (id: string, options: LogOptions = {}): Promise<readonly LogChunk[]> => {
      checkOptions('processes.logs', processOptions.logs, options)
      if (!(await wasStarted(this.journal, id))) throw noProcess(id)
      return readLogs(this.journal, id, options)
    },
    /** The same, one by one. It ends: nothing can follow. */
    follow: (id: string, options: LogOptions = {}): AsyncIterableIterator<LogChunk> =>
      oneByOne(this.processes.logs(id, options)),
    /** Settles when the process of a running sandbox has ended; undefined for another sandbox. */
    exitOf: (id: string) => this.#live()?.look?.exitOf(id),
  }

  readonly files = {
    changed: async (options: LookOptions = {}): Promise<ChangedFileList> => {
      checkOptions('files.changed', hostOptions.look, options)
      const query = { types: ['file.*', 'watch.degraded'], ...options }
      const state = await readView(this.journal, changedFilesView, query)
      return { files: listChangedFiles(state), complete: state.complete }
    },
  }

  readonly ports = {
    list: async (options: LookOptions = {}): Promise<readonly PortInfo[]> => {
      checkOptions('ports.list', hostOptions.look, options)
      return this.#live()?.look?.ports() ?? []
    },
  }

  async #recordedProcesses(query: LookOptions & { readonly text?: string }): Promise<readonly ProcessInfo[]> {
    const types = ['process.started', 'process.exited']
    const list = await readView(this.journal, processListView(), { types, ...query })
    return listProcesses(list).flatMap((process) => recordedProcess(process) ?? [])
  }
}

async function* oneByOne<T>(all: Promise<readonly T[]>): AsyncGenerator<T, undefined> {
  yield* await all
}

function noProcess(id: string): VitrineError {
  return new VitrineError('not_found', `There is no process "${id}" in this sandbox.`)
}
