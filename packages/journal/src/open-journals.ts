import { randomBytes } from 'node:crypto'
import { type EventInput, type OnObserverError, VitrineError } from '@vitrine/protocol'
import { idPattern, ObserverErrors } from '@vitrine/protocol/primitives'
import type { Committer, JournalState } from './append/committer.ts'
import type { AppendStages } from './append/prepare.ts'
import type { Blobs } from './blobs/blobs.ts'
import type { Entry } from './entry.ts'
import { Gates } from './gates/gates.ts'
import { genesis } from './integrity/chain.ts'
import { type FlushOptions, Journal, type JournalCore, type WriterOptions } from './journal.ts'
import { currentOperation } from './operate/current-operation.ts'
import { Exporter } from './read/exporting.ts'
import { journalScope } from './read/read-scope.ts'
import type { Reader } from './read/reader.ts'
import type { RetentionLimits } from './retention/retention.ts'
import type { Trimming } from './retention/trimming.ts'
import type { JournalHead, StoreConnection } from './stores/contract.ts'
import { Taps } from './taps/taps.ts'
import { Wakeup } from './wakeup.ts'

export interface OpenJournalsOptions {
  readonly connection: StoreConnection
  readonly committer: Committer
  readonly reader: Reader
  readonly stages: AppendStages
  readonly blobs: Blobs
  readonly trimming: Trimming
  readonly onObserverError: OnObserverError | undefined
  flush(options?: FlushOptions): Promise<void>
}

/** The journals of a store that are in use. All handles of a journal share one core. */
export class OpenJournals {
  readonly #options: OpenJournalsOptions
  readonly #cores = new Map<string, JournalCore & { readonly wakeup: Wakeup }>()
  readonly #opening = new Map<string, Promise<JournalCore>>()

  constructor(options: OpenJournalsOptions) {
    this.#options = options
  }

  async journal(id: string, writer: WriterOptions = {}): Promise<Journal> {
    this.#options.reader.assertOpen()
    return new Journal(await this.#core(id), writer)
  }

  async state(id: string): Promise<JournalState> {
    return (await this.#core(id)).state
  }

  /** Delivers committed entries to the taps and readers of their journals. */
  onCommitted(entries: readonly Entry[], journals: Iterable<string>): void {
    for (const id of journals) {
      const core = this.#cores.get(id)
      if (core === undefined) continue
      if (core.taps.size > 0) core.taps.deliver(entries.filter(({ journal }) => journal === id))
      core.wakeup.notify()
      this.#options.trimming.trimIfOverLimit(core.state)
    }
  }

  wakeReaders(): void {
    for (const { wakeup } of this.#cores.values()) wakeup.notify()
  }

  /** Appends to the host's own journal in the background and ignores failures. */
  recordInHostJournal(type: string, data: { readonly [key: string]: unknown }): void {
    this.journal('host')
      .then((host) => host.append([{ type, data, derived: true }]))
      .catch(() => undefined)
  }

  /** Concurrent callers share one core per journal. */
  #core(id: string): Promise<JournalCore> {
    const known = this.#opening.get(id)
    if (known) return known
    const opening = this.#openCore(id)
    this.#opening.set(id, opening)
    opening.catch(() => this.#opening.delete(id))
    return opening
  }

  async #openCore(id: string): Promise<JournalCore> {
    if (typeof id !== 'string' || !idPattern.test(id)) {
      throw new VitrineError(
        'argument_invalid',
        `journal: expected an id of 1 to 128 letters, digits, "_", "." and "-", got ${typeof id === 'string' ? JSON.stringify(id.slice(0, 200)) : typeof id}.`,
      )
    }
    const { connection, committer, reader, stages, blobs, trimming, onObserverError } = this.#options
    const state: JournalState = { head: (await connection.head(id)) ?? emptyHead(id) }
    const wakeup = new Wakeup()
    const loadHead = async () => {
      if (connection.readOnly) state.head = (await connection.head(id)) ?? state.head
      return state.head
    }
    const scope = journalScope(id, wakeup, loadHead, connection)
    await scope.end()
    const log = (event: EventInput) => this.#logInJournal(state, event)
    const observerErrors = new ObserverErrors({ onObserverError, log })
    const core = {
      id,
      state,
      wakeup,
      scope,
      taps: new Taps(observerErrors),
      observerErrors,
      gates: new Gates(),
      connection,
      committer,
      reader,
      exporter: new Exporter(reader, scope),
      stages,
      blobs,
      flush: (options?: FlushOptions) => this.#options.flush(options),
      trim: (journal: JournalState, limits: RetentionLimits) => trimming.trim(journal, limits),
    }
    this.#cores.set(id, core)
    return core
  }

  /** Logs in the journal that was observed. A mirror takes only imports, so a message about it goes to the host's journal. */
  async #logInJournal({ head }: JournalState, event: EventInput): Promise<void> {
    if (head.mirror) return this.recordInHostJournal(event.type, { ...event.data, journal: head.id })
    const journal = await this.journal(head.id)
    // An observer is called by the commit of any operation: the message does not belong to that operation.
    await currentOperation.exit(() => journal.append([{ ...event, derived: true }]))
  }
}

function emptyHead(id: string): JournalHead {
  const incarnation = randomBytes(6).toString('base64url')
  return { id, incarnation, seq: 0, hash: genesis(id), time: 0, events: 0, bytes: 0, mirror: false }
}
