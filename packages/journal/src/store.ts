import { randomBytes } from 'node:crypto'
import {
  type BlobRef,
  type EventInput,
  type JournalItem,
  type OpenWork,
  type Page,
  type ReadOptions,
  type TailOptions,
  VitrineError,
} from '@vitrine/protocol'
import {
  blobOptions,
  checkOptions,
  journalOptions,
  sinkOptions,
  storeOptions,
} from '@vitrine/protocol/options'
import { idPattern, ObserverErrors } from '@vitrine/protocol/primitives'
import { Committer, type Health, type JournalState } from './append/committer.ts'
import { type AppendStages, prepareRedacted } from './append/prepare.ts'
import { type BlobContent, Blobs, type PreparedBlob, type StoredBlob } from './blobs/blobs.ts'
import type { Entry } from './entry.ts'
import { Gates } from './gates/gates.ts'
import { genesis } from './integrity/chain.ts'
import { type FlushOptions, Journal, type JournalCore, type WriterOptions } from './journal.ts'
import { currentOperation } from './operate/current-operation.ts'
import type { EncodedEvent, TailEncodedOptions } from './read/encoded-event.ts'
import { journalScope, type ReadScope, storeScope } from './read/read-scope.ts'
import { type EncodedPage, Reader } from './read/reader.ts'
import { RecentEvents } from './read/recent-events.ts'
import type { Tail } from './read/tail.ts'
import { recoveryEvents } from './recovery.ts'
import { createRedactor, type Redactor } from './redact/redactor.ts'
import { repeat } from './repeat.ts'
import type { RetentionLimits } from './retention/retention.ts'
import { Trimming } from './retention/trimming.ts'
import type { KeptSecret, SecretStorage } from './secrets/secret-storage.ts'
import { Secrets } from './secrets/secrets.ts'
import type { StoreSettings } from './settings.ts'
import type { SinkState } from './sinks/feed.ts'
import type { Sink } from './sinks/sink.ts'
import { type AddSinkOptions, type SinkHandle, Sinks } from './sinks/sinks.ts'
import type { JournalHead, StoreConnection } from './stores/contract.ts'
import { Taps } from './taps/taps.ts'
import { Wakeup } from './wakeup.ts'

const ownershipCheckMs = 500
const readOnlyPollMs = 25
const maintenanceMs = 60_000

/** All journals and blobs of a host. Every write goes through it. */
export class Store {
  readonly id: string
  /** Aborts when another host takes the store over or the store is damaged: stop everything that writes to it. */
  readonly lost: AbortSignal
  readonly #connection: StoreConnection
  readonly #settings: StoreSettings
  readonly #redactor: Redactor
  readonly #secrets: Secrets
  readonly #committer: Committer
  readonly #reader: Reader
  readonly #recent: RecentEvents
  readonly #blobs: Blobs
  readonly #stages: AppendStages
  readonly #scope: ReadScope
  readonly #wakeup = new Wakeup()
  readonly #journals = new Map<string, JournalCore & { readonly wakeup: Wakeup }>()
  readonly #opening = new Map<string, Promise<JournalCore>>()
  readonly #sinks: Sinks
  readonly #trimming: Trimming
  readonly #lost = new AbortController()
  readonly #closing = new AbortController()
  #seenPosition: number
  #ended: VitrineError | undefined
  #sealed: VitrineError | undefined
  #closed: Promise<void> | undefined

  constructor(connection: StoreConnection, settings: StoreSettings, start: StoreStart) {
    this.id = connection.storeId
    this.lost = this.#lost.signal
    this.#connection = connection
    this.#settings = settings
    this.#redactor = settings.redactor
    this.#secrets = new Secrets(settings.redactor, start.secrets?.storage, start.secrets?.kept)
    this.#recent = new RecentEvents(settings.recent)
    this.#reader = new Reader(connection, this.#recent, {
      closed: () => this.#ended,
      complete: () => this.#sealed,
    })
    this.#committer = new Committer({
      connection,
      lastPosition: start.lastPosition,
      openWork: start.openWork,
      maxPendingBytes: settings.maxPendingBytes,
      maxPendingEndings: settings.maxPendingEndings,
      onCommitted: (entries, journals) => this.#onCommitted(entries, journals),
      onHealth: (health) => void this.#onHealth(health).catch(() => undefined),
      onLost: (error) => this.#onLost(error),
    })
    this.#blobs = new Blobs(connection, this.#committer, this.#redactor, settings.blobs, start.blobBytes)
    this.#stages = {
      redactor: this.#redactor,
      policy: settings.policy,
      reserveBlobSpace: this.#blobs.reserveSpace,
    }
    const lastPosition = connection.readOnly
      ? () => connection.lastPosition()
      : async () => this.#committer.position
    this.#scope = storeScope(connection.storeId, this.#wakeup, lastPosition)
    this.#trimming = new Trimming(
      {
        connection,
        committer: this.#committer,
        stages: this.#stages,
        signal: this.#closing.signal,
        recordInHostJournal: (type, data) => this.#recordInHostJournal(type, data),
      },
      settings.retention,
    )
    this.#sinks = new Sinks({
      scope: this.#scope,
      reader: this.#reader,
      connection,
      committer: this.#committer,
      closeMs: settings.closeMs,
      onChange: (type, data) => this.#recordInHostJournal(type, data),
      errors: this.#observerErrors(({ type, data = {} }) => this.#recordInHostJournal(type, data)),
    })
    this.#seenPosition = start.lastPosition
    const { signal } = this.#closing
    if (connection.readOnly) void repeat(readOnlyPollMs, signal, () => this.#pollForCommits())
    else {
      void repeat(ownershipCheckMs, signal, () => this.#checkOwnership())
      void repeat(maintenanceMs, signal, () => this.#runMaintenance())
    }
  }

  get health(): Health {
    return this.#committer.health
  }

  /** The journal with this id; its first event creates it. */
  async journal(id: string, writer: WriterOptions = {}): Promise<Journal> {
    checkOptions('journal', journalOptions.writer, writer)
    this.#reader.assertOpen()
    return new Journal(await this.#core(id), writer)
  }

  async journals(): Promise<readonly string[]> {
    this.#reader.assertOpen()
    return this.#connection.journals()
  }

  /**
   * Closes the work that a dead owner left open. Its data was checked and redacted when it started and is not again:
   * a newer check or a newly registered secret could reject the end event, and the store could not be opened.
   *
   * @internal
   */
  async closeInterrupted(openWork: readonly OpenWork[]): Promise<void> {
    if (openWork.length === 0) return
    const noRedaction = { ...this.#stages, redactor: createRedactor({ patterns: false }) }
    for (const [id, open] of Map.groupBy(openWork, (work) => work.journal)) {
      const { state } = await this.#core(id)
      const append = prepareRedacted(recoveryEvents(open), { source: 'host', context: {} }, noRedaction)
      await this.#committer.append(state, append, append)
    }
  }

  /** A page over every journal of this store, in commit order. */
  read(options?: ReadOptions): Promise<Page> {
    return this.#reader.page(this.#scope, options)
  }

  /** Like `read`, with each item as its stored JSON: for code that forwards events, such as a server. */
  readEncoded(options?: ReadOptions): Promise<EncodedPage> {
    return this.#reader.encodedPage(this.#scope, options)
  }

  /** Follows every journal of this store in commit order with one cursor. */
  tail(options?: TailOptions): AsyncIterableIterator<JournalItem> {
    return this.#reader.tail(this.#scope, options)
  }

  /** Like `tail`, with each item's cursor and stored JSON: for code that forwards events, such as a server. */
  tailEncoded(options?: TailEncodedOptions): Tail<EncodedEvent> {
    return this.#reader.tailEncoded(this.#scope, options)
  }

  /**
   * Masks this value, in any common encoding, in everything appended from now on, also by the next owner of the store if
   * it was opened with `secrets`. A value of a sandbox is forgotten with it. Returns a function that unregisters it.
   */
  /** Masks registered secrets and known forms of tokens in a text that does not pass through a journal. */
  redactText(text: string): string {
    return this.#redactor.redactText(text)
  }

  addSecret(name: string, value: string, options: { readonly sandbox?: string } = {}): () => void {
    checkOptions('addSecret', storeOptions.addSecret, options)
    return this.#secrets.add(name, value, options.sandbox)
  }

  /** Whether registered secrets are masked by the next owner of the store too. */
  get keepsSecrets(): boolean {
    return this.#secrets.kept
  }

  /** Unregisters the secrets of a destroyed sandbox that nothing else registered. */
  forgetSecretsOf(sandbox: string): void {
    this.#secrets.forgetSandbox(sandbox)
  }

  /** Delivers every event to a sink while the store is open, starting at the cursor stored under its name. */
  async addSink(name: string, sink: Sink, options: AddSinkOptions = {}): Promise<SinkHandle> {
    checkOptions('addSink', sinkOptions.add, options)
    this.#assertWritable()
    return this.#sinks.add(name, sink, options)
  }

  get sinks(): readonly SinkState[] {
    return this.#sinks.states
  }

  /** Redacts bytes and stores them under their hash. They stay as long as an event refers to them. */
  async putBlob(content: BlobContent, options?: { readonly mediaType?: string }): Promise<BlobRef> {
    checkOptions('putBlob', blobOptions.put, options)
    this.#assertWritable()
    return this.#blobs.put(content, options?.mediaType)
  }

  /** Prepares a blob for `journal.append(events, { blobs })`, which commits it together with the events. */
  prepareBlob(content: Uint8Array): PreparedBlob {
    this.#assertWritable()
    return this.#blobs.prepare(content)
  }

  async getBlob(
    hash: string,
    range?: { readonly start?: number; readonly end?: number },
  ): Promise<StoredBlob> {
    checkOptions('getBlob', blobOptions.range, range)
    this.#reader.assertOpen()
    return this.#blobs.get(hash, range)
  }

  /** Frees blobs that no event refers to; the store also does this periodically. */
  async sweepBlobs(options?: { readonly graceMs?: number }): Promise<void> {
    checkOptions('sweepBlobs', blobOptions.sweep, options)
    await this.#blobs.sweep(options?.graceMs)
  }

  /** Resolves once everything appended is committed and delivered to every sink. */
  async flush(options: FlushOptions = {}): Promise<void> {
    checkOptions('flush', journalOptions.flush, options)
    const { timeoutMs = 30_000, signal } = options
    if (this.#ended) throw this.#ended
    // Unlike the timer of `AbortSignal.timeout`, this one keeps the process alive until it fires.
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), timeoutMs)
    const either = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal
    try {
      await this.#committer.idle(either)
      const { position } = this.#committer
      await this.#sinks.caughtUp(position, either)
      if (this.#ended) throw this.#ended
    } catch (error) {
      signal?.throwIfAborted()
      if (!timeout.signal.aborted) throw error
      const late = this.sinks
        .filter((sink) => sink.lag > 0)
        .map((sink) => `${sink.name} (${sink.error?.message ?? 'slow'})`)
      throw new VitrineError(
        'timeout',
        `Not every sink caught up within ${timeoutMs} ms: ${late.join(', ')}.`,
      )
    } finally {
      clearTimeout(timer)
    }
  }

  /** Commits pending appends, waits up to `closeMs` for sinks, and releases the store. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#closing.abort()
    if (!this.#ended && !this.#connection.readOnly) {
      await this.flush({ timeoutMs: this.#settings.closeMs }).catch(() => undefined)
    }
    try {
      await this.#sinks.close()
      await this.#trimming.settled()
    } finally {
      this.#end(new VitrineError('store_closed', 'The store was closed.'))
      await this.#committer.idle()
      await this.#connection.close()
    }
  }

  /**
   * Ends writing for good: later appends fail with this error, and nothing runs in the background any more. Committed
   * events stay readable until the store is closed; a tail fails with the error after the last one. For a store in memory,
   * which needs no closing then.
   */
  async seal(error: VitrineError): Promise<void> {
    this.#assertWritable()
    this.#closing.abort()
    await this.flush({ timeoutMs: this.#settings.closeMs }).catch(() => undefined)
    await this.#sinks.close()
    await this.#trimming.settled()
    this.#sealed ??= error
    this.#committer.end(this.#sealed)
    this.#wakeReaders()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
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
    const state: JournalState = { head: (await this.#connection.head(id)) ?? emptyHead(id) }
    const wakeup = new Wakeup()
    const scope = journalScope(id, wakeup, async () => {
      if (this.#connection.readOnly) state.head = (await this.#connection.head(id)) ?? state.head
      return state.head
    })
    await scope.end()
    const observerErrors = this.#observerErrors((event) => this.#logInJournal(state, event))
    const core = {
      id,
      state,
      wakeup,
      scope,
      taps: new Taps(observerErrors),
      observerErrors,
      gates: new Gates(),
      connection: this.#connection,
      committer: this.#committer,
      reader: this.#reader,
      stages: this.#stages,
      flush: (options?: FlushOptions) => this.flush(options),
      trim: (journal: JournalState, limits: RetentionLimits) => this.#trimming.trim(journal, limits),
    }
    this.#journals.set(id, core)
    return core
  }

  #onCommitted(entries: readonly Entry[], journals: Iterable<string>): void {
    this.#recent.add(entries)
    for (const id of journals) {
      const core = this.#journals.get(id)
      if (core === undefined) continue
      if (core.taps.size > 0) core.taps.deliver(entries.filter(({ journal }) => journal === id))
      core.wakeup.notify()
      this.#trimming.trimIfOverLimit(core.state)
    }
    this.#wakeup.notify()
  }

  async #onHealth(health: Health): Promise<void> {
    if (health.status === 'failing') {
      await this.#connection.reserve('free')
      return
    }
    await this.#connection.reserve('take')
    const { milliseconds = 0, error } = health.failedFor ?? {}
    // Waiting for another program's lock is not a disk limit.
    if (error?.code !== 'store_failing') return
    this.#recordInHostJournal('limit.reached', {
      limit: 'disk',
      max: 0,
      failedForMs: Math.round(milliseconds),
    })
  }

  /** Appends to the host's own journal in the background and ignores failures. */
  #recordInHostJournal(type: string, data: { readonly [key: string]: unknown }): void {
    this.journal('host')
      .then((host) => host.append([{ type, data, derived: true }]))
      .catch(() => undefined)
  }

  #observerErrors(log: (event: EventInput) => unknown): ObserverErrors {
    return new ObserverErrors({ onObserverError: this.#settings.onObserverError, log })
  }

  /** Logs in the journal that was observed. A mirror takes only imports, so a message about it goes to the host's journal. */
  async #logInJournal({ head }: JournalState, event: EventInput): Promise<void> {
    if (head.mirror) return this.#recordInHostJournal(event.type, { ...event.data, journal: head.id })
    const journal = await this.journal(head.id)
    // An observer is called by the commit of any operation: the message does not belong to that operation.
    await currentOperation.exit(() => journal.append([{ ...event, derived: true }]))
  }

  #onLost(error: VitrineError): void {
    this.#end(error)
    // The new owner delivers from here on: two concurrent feeds would deliver out of order.
    void this.#sinks.close()
    this.#lost.abort(error)
  }

  #end(error: VitrineError): void {
    if (this.#ended) return
    this.#ended = error
    this.#committer.end(error)
    this.#wakeReaders()
  }

  #wakeReaders(): void {
    for (const { wakeup } of this.#journals.values()) wakeup.notify()
    this.#wakeup.notify()
  }

  #assertWritable(): void {
    const ended = this.#ended ?? this.#sealed
    if (ended) throw ended
    if (this.#connection.readOnly)
      throw new VitrineError('store_read_only', 'The store was opened read-only.')
  }

  /** An idle host makes no commits that would fail, so it polls for a takeover. */
  async #checkOwnership(): Promise<void> {
    if (this.#ended || (await this.#connection.owns())) return
    this.#onLost(new VitrineError('store_fenced', 'Another host took this store over.'))
    await this.#connection.close()
  }

  async #runMaintenance(): Promise<void> {
    if (this.#ended) return
    await this.#blobs.sweep()
    // Includes journals that were not opened since the store was: their events age too.
    for (const id of await this.#connection.journals()) {
      const head = await this.#connection.head(id)
      if (head && (await this.#trimming.isDue(head)))
        await this.#trimming.trimToDefaults((await this.#core(id)).state)
    }
  }

  /** A reader in another process polls for commits. */
  async #pollForCommits(): Promise<void> {
    const position = await this.#connection.lastPosition()
    if (position === this.#seenPosition) return
    this.#seenPosition = position
    this.#wakeReaders()
  }
}

export interface StoreStart {
  readonly lastPosition: number
  readonly openWork: readonly OpenWork[]
  readonly blobBytes: number
  /** Where secrets are kept, and those of earlier owners. */
  readonly secrets?: { readonly storage: SecretStorage; readonly kept: readonly KeptSecret[] }
}

function emptyHead(id: string): JournalHead {
  const incarnation = randomBytes(6).toString('base64url')
  return { id, incarnation, seq: 0, hash: genesis(id), time: 0, events: 0, bytes: 0, mirror: false }
}
