import {
  type BlobRef,
  type JournalFilter,
  type JournalItem,
  type MatchedItem,
  type OpenWork,
  type Page,
  type ReadOptions,
  type Summary,
  type SummaryOptions,
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
import { itemCursorOfAll, ObserverErrors } from '@vitrine/protocol/primitives'
import { Committer, type Health } from './append/committer.ts'
import { type AppendStages, prepareRedacted } from './append/prepare.ts'
import { startBackground } from './background.ts'
import { type BlobContent, Blobs, type PreparedBlob, type StoredBlob } from './blobs/blobs.ts'
import type { Entry } from './entry.ts'
import { flushToSinks } from './flush.ts'
import type { FlushOptions, Journal, WriterOptions } from './journal.ts'
import { OpenJournals } from './open-journals.ts'
import type { EncodedEvent, TailEncodedOptions } from './read/encoded-event.ts'
import { type ReadScope, storeScope } from './read/read-scope.ts'
import { type EncodedPage, Reader } from './read/reader.ts'
import { RecentEvents } from './read/recent-events.ts'
import type { Tail } from './read/tail.ts'
import { recoveryEvents } from './recovery.ts'
import { createRedactor, type Redactor } from './redact/redactor.ts'
import { Trimming } from './retention/trimming.ts'
import type { KeptSecret, SecretStorage } from './secrets/secret-storage.ts'
import { Secrets } from './secrets/secrets.ts'
import type { StoreSettings } from './settings.ts'
import type { SinkState } from './sinks/feed.ts'
import type { Sink } from './sinks/sink.ts'
import { type AddSinkOptions, type SinkHandle, Sinks } from './sinks/sinks.ts'
import type { StoreConnection } from './stores/contract.ts'
import { Wakeup } from './wakeup.ts'

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
  readonly #journals: OpenJournals
  readonly #sinks: Sinks
  readonly #trimming: Trimming
  readonly #lost = new AbortController()
  readonly #closing = new AbortController()
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
    this.#scope = storeScope(connection.storeId, this.#wakeup, lastPosition, connection)
    this.#trimming = new Trimming(
      {
        connection,
        committer: this.#committer,
        stages: this.#stages,
        signal: this.#closing.signal,
        recordInHostJournal: (type, data) => this.#journals.recordInHostJournal(type, data),
      },
      settings.retention,
    )
    this.#journals = new OpenJournals({
      connection,
      committer: this.#committer,
      reader: this.#reader,
      stages: this.#stages,
      blobs: this.#blobs,
      trimming: this.#trimming,
      onObserverError: settings.onObserverError,
      flush: (options) => this.flush(options),
    })
    this.#sinks = new Sinks({
      scope: this.#scope,
      reader: this.#reader,
      connection,
      committer: this.#committer,
      closeMs: settings.closeMs,
      onChange: (type, data) => this.#journals.recordInHostJournal(type, data),
      errors: new ObserverErrors({
        onObserverError: settings.onObserverError,
        log: ({ type, data = {} }) => this.#journals.recordInHostJournal(type, data),
      }),
    })
    startBackground({
      connection,
      blobs: this.#blobs,
      trimming: this.#trimming,
      journals: this.#journals,
      signal: this.#closing.signal,
      lastPosition: start.lastPosition,
      isEnded: () => this.#ended !== undefined,
      onTakenOver: async () => {
        this.#onLost(new VitrineError('store_fenced', 'Another host took this store over.'))
        await connection.close()
      },
      onForeignCommit: () => this.#wakeReaders(),
    })
  }

  get health(): Health {
    return this.#committer.health
  }

  /** Whether this process still owns the store. A takeover is known at once, before `lost` reports it. */
  async isOwned(): Promise<boolean> {
    return this.#ended === undefined && this.#connection.owns().catch(() => false)
  }

  /** The journal with this id; its first event creates it. */
  async journal(id: string, writer: WriterOptions = {}): Promise<Journal> {
    checkOptions('journal', journalOptions.writer, writer)
    return this.#journals.journal(id, writer)
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
      const append = prepareRedacted(recoveryEvents(open), { source: 'host', context: {} }, noRedaction)
      await this.#committer.append(await this.#journals.state(id), append, append)
    }
  }

  /** A page over every journal of this store, in commit order. */
  read<const Pattern extends string = string>(
    options?: ReadOptions<Pattern> & JournalFilter,
  ): Promise<Page<Pattern>>
  read(options?: ReadOptions & JournalFilter): Promise<Page> {
    return this.#reader.page(this.#scope, options)
  }

  /** Like `read`, with each item as its stored JSON: for code that forwards events, such as a server. */
  readEncoded(options?: ReadOptions & JournalFilter): Promise<EncodedPage> {
    return this.#reader.encodedPage(this.#scope, options)
  }

  /** Follows every journal of this store in commit order with one cursor. */
  tail<const Pattern extends string = string>(
    options?: TailOptions<Pattern> & JournalFilter,
  ): AsyncIterableIterator<MatchedItem<Pattern>>
  tail(options?: TailOptions & JournalFilter): AsyncIterableIterator<JournalItem> {
    return this.#reader.tail(this.#scope, options)
  }

  /** The cursor after an item of `read` or `tail` of this store. */
  cursor(item: JournalItem): string {
    return itemCursorOfAll(item)
  }

  /** Like `tail`, with each item's cursor and stored JSON: for code that forwards events, such as a server. */
  tailEncoded(options?: TailEncodedOptions & JournalFilter): Tail<EncodedEvent> {
    return this.#reader.tailEncoded(this.#scope, options)
  }

  /** Counts the events of every journal of this store by type and time. */
  summary(options?: SummaryOptions & JournalFilter): Promise<Summary> {
    return this.#reader.summary(this.#scope, options)
  }

  /** Masks registered secrets and known forms of tokens in a text that does not pass through a journal. */
  redactText(text: string): string {
    return this.#redactor.redactText(text)
  }

  /** A copy of JSON data with every text and every key masked, as the journal does. */
  redactValue<T>(value: T): T {
    // The cast holds for JSON data: masking changes texts and keys only.
    return this.#redactor.redactValue(value) as T
  }

  /**
   * Masks this value, in any common encoding, in everything appended from now on, also by the next owner of the store if
   * it was opened with `secrets`. A value of a sandbox is forgotten with it. One that is not `kept` is masked by this owner
   * only, and not written to disk. Returns a function that unregisters it.
   */
  addSecret(
    name: string,
    value: string,
    options: { readonly sandbox?: string; readonly kept?: boolean } = {},
  ): () => void {
    checkOptions('addSecret', storeOptions.addSecret, options)
    const { sandbox, kept = true } = options
    return kept ? this.#secrets.add(name, value, sandbox) : this.#redactor.add(name, value)
  }

  /** Masks all of these values, by name, or none if one cannot be masked. */
  addSecrets(
    values: Readonly<Record<string, string>>,
    options: { readonly sandbox?: string } = {},
  ): () => void {
    checkOptions('addSecrets', storeOptions.addSecrets, options)
    return this.#secrets.addAll(values, options.sandbox)
  }

  /** Whether registered secrets are masked by the next owner of the store too. */
  get keepsSecrets(): boolean {
    return this.#secrets.kept
  }

  /**
   * A hash that only the owner of the store can compute: readers of an event that contains it cannot check a guess. Hashes
   * begin with the id of their key and a colon. With `secrets` the key is the same after a restart.
   */
  keyedHash(text: string): string {
    return this.#secrets.hash(text)
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
    if (this.#ended) throw this.#ended
    await flushToSinks(this.#committer, this.#sinks, options)
    if (this.#ended) throw this.#ended
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

  #onCommitted(entries: readonly Entry[], journals: Iterable<string>): void {
    this.#recent.add(entries)
    this.#journals.onCommitted(entries, journals)
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
    this.#journals.recordInHostJournal('limit.reached', {
      limit: 'disk',
      max: 0,
      failedForMs: Math.round(milliseconds),
    })
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
    this.#journals.wakeReaders()
    this.#wakeup.notify()
  }

  #assertWritable(): void {
    const ended = this.#ended ?? this.#sealed
    if (ended) throw ended
    if (this.#connection.readOnly)
      throw new VitrineError('store_read_only', 'The store was opened read-only.')
  }
}

export interface StoreStart {
  readonly lastPosition: number
  readonly openWork: readonly OpenWork[]
  readonly blobBytes: number
  /** Where secrets are kept, and those of earlier owners. */
  readonly secrets?: { readonly storage: SecretStorage; readonly kept: readonly KeptSecret[] }
}
