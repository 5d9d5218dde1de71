import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type BlobRef,
  type JournalItem,
  type OpenWork,
  type Page,
  type ReadOptions,
  type TailOptions,
  VitrineError,
} from '@vitrine/protocol'
import { Committer, type Health, type JournalState } from './append/committer.ts'
import type { Workshop } from './append/prepare.ts'
import { type BlobContent, Blobs, type StoredBlob } from './blobs/blobs.ts'
import type { Entry } from './entry.ts'
import { Gates } from './gates/gates.ts'
import { genesis } from './integrity/chain.ts'
import { type FlushOptions, Journal, type JournalCore, type WriterOptions } from './journal.ts'
import { type PayloadPolicy, sinkRules } from './policy/policy.ts'
import { journalSubject, Reader, type Subject, storeSubject } from './read/reader.ts'
import { Recent } from './recent.ts'
import type { Redactor } from './redact/redactor.ts'
import { isOverLimit, type RetentionLimits, trim } from './retention/retention.ts'
import type { StoreSettings } from './settings.ts'
import { SinkFeed, type SinkState } from './sinks/feed.ts'
import type { Sink } from './sinks/sink.ts'
import type { StoreConnection } from './stores/contract.ts'
import { Taps } from './taps/taps.ts'
import { Wakeup } from './wakeup.ts'

const ownershipCheckMs = 500
const readOnlyPollMs = 25
const housekeepingMs = 60_000
const closeFlushMs = 2_000

export interface AddSinkOptions {
  readonly types?: readonly string[]
  /** Narrows what the sink sees; it never widens what the journal holds. */
  readonly policy?: PayloadPolicy
  /** Where a sink of a new name begins; default `start`. */
  readonly from?: 'start' | 'now'
}

/** A sink that was added. Closing it keeps its cursor. */
export interface AddedSink {
  readonly name: string
  readonly state: SinkState
  close(): Promise<void>
}

/** Where a host keeps all its journals, and the one place they are written through. */
export class Store {
  readonly id: string
  /** Aborted when another host took the store over, or when it is damaged: end everything that writes to it. */
  readonly lost: AbortSignal
  readonly #connection: StoreConnection
  readonly #settings: StoreSettings
  readonly #redactor: Redactor
  readonly #committer: Committer
  readonly #reader: Reader
  readonly #recent: Recent
  readonly #blobs: Blobs
  readonly #workshop: Workshop
  readonly #subject: Subject
  readonly #wakeup = new Wakeup()
  readonly #journals = new Map<string, JournalCore & { readonly wakeup: Wakeup }>()
  readonly #feeds = new Map<string, SinkFeed>()
  readonly #trimming = new Map<string, Promise<unknown>>()
  readonly #lost = new AbortController()
  readonly #closing = new AbortController()
  #ended: VitrineError | undefined

  constructor(connection: StoreConnection, settings: StoreSettings, start: StoreStart) {
    this.id = connection.storeId
    this.lost = this.#lost.signal
    this.#connection = connection
    this.#settings = settings
    this.#redactor = settings.redactor
    this.#recent = new Recent(settings.recent)
    this.#reader = new Reader(connection, this.#recent, () => this.#ended)
    this.#committer = new Committer({
      connection,
      lastPosition: start.lastPosition,
      openWork: start.openWork,
      maxPendingBytes: settings.maxPendingBytes,
      maxPendingEndings: settings.maxPendingEndings,
      onCommitted: (entries) => this.#committed(entries),
      onHealth: (health) => void this.#healthChanged(health),
      onLost: (error) => this.#lose(error),
    })
    this.#blobs = new Blobs(connection, this.#committer, this.#redactor, settings.blobs, start.blobBytes)
    this.#workshop = {
      redactor: this.#redactor,
      policy: settings.policy,
      hasRoomForBlob: this.#blobs.takeRoom,
    }
    const lastPosition = connection.readOnly
      ? () => connection.lastPosition()
      : async () => this.#committer.position
    this.#subject = storeSubject(connection.storeId, this.#wakeup, lastPosition)
    if (connection.readOnly) void this.#followOwner()
    else {
      void this.#watchOwnership()
      void this.#keepHouse()
    }
  }

  get health(): Health {
    return this.#committer.health
  }

  /** The journal of that id; it comes to be with its first event. */
  async journal(id: string, writer: WriterOptions = {}): Promise<Journal> {
    return new Journal(await this.#core(id), writer)
  }

  async journals(): Promise<readonly string[]> {
    return this.#connection.journals()
  }

  /** A page over every journal of this store, in commit order. */
  read(options?: ReadOptions): Promise<Page> {
    return this.#reader.page(this.#subject, options)
  }

  /** Every journal of this store, in commit order, under one cursor. */
  tail(options?: TailOptions): AsyncIterableIterator<JournalItem> {
    return this.#reader.tail(this.#subject, options)
  }

  /** From now on this value, in any common encoding, reaches no journal. Returns how to forget it. */
  addSecret(name: string, value: string): () => void {
    return this.#redactor.add(name, value)
  }

  async addSink(name: string, sink: Sink, options: AddSinkOptions = {}): Promise<AddedSink> {
    if (typeof name !== 'string' || name === '')
      throw new VitrineError('argument_invalid', 'addSink: expected a name.')
    if (this.#feeds.has(name)) throw new VitrineError('sink_exists', `There is already a sink "${name}".`)
    this.#mustWrite()
    const stored = await this.#connection.sinkCursor(name)
    const position = stored ?? (options.from === 'now' ? this.#committer.position : 0)
    if (stored === undefined) {
      await this.#committer.exclusively(() => this.#connection.setSinkCursor(name, position))
    }
    const feed = new SinkFeed({
      name,
      sink,
      position,
      filter: options.types ? { types: options.types } : {},
      rules: options.policy && sinkRules(options.policy),
      subject: this.#subject,
      reader: this.#reader,
      connection: this.#connection,
      committer: this.#committer,
      storeId: this.id,
      onChange: (type, data) => this.#note(type, data),
    })
    this.#feeds.set(name, feed)
    return {
      name,
      get state() {
        return feed.state
      },
      close: async () => {
        await feed.close()
        if (this.#feeds.get(name) === feed) this.#feeds.delete(name)
      },
    }
  }

  get sinks(): readonly SinkState[] {
    return [...this.#feeds.values()].map((feed) => feed.state)
  }

  /** Stores bytes under their hash, redacted. They stay as long as an event refers to them. */
  putBlob(content: BlobContent, { mediaType }: { mediaType?: string } = {}): Promise<BlobRef> {
    this.#mustWrite()
    return this.#blobs.put(content, mediaType)
  }

  getBlob(hash: string, range?: { readonly start?: number; readonly end?: number }): Promise<StoredBlob> {
    return this.#blobs.get(hash, range)
  }

  /** Frees blobs that no event refers to; it happens by itself from time to time. */
  async sweepBlobs({ graceMs }: { graceMs?: number } = {}): Promise<void> {
    await this.#blobs.sweep(graceMs)
  }

  /** Once everything appended is committed and every sink has it. */
  async flush({ timeoutMs = 30_000, signal }: FlushOptions = {}): Promise<void> {
    const timeout = AbortSignal.timeout(timeoutMs)
    const either = signal ? AbortSignal.any([signal, timeout]) : timeout
    try {
      await this.#committer.idle(either)
      const { position } = this.#committer
      await Promise.all([...this.#feeds.values()].map((feed) => feed.caughtUp(position, either)))
    } catch (error) {
      signal?.throwIfAborted()
      if (!timeout.aborted) throw error
      const late = this.sinks
        .filter((sink) => sink.lag > 0)
        .map((sink) => `${sink.name} (${sink.error?.message ?? 'slow'})`)
      throw new VitrineError(
        'timeout',
        `Not every sink caught up within ${timeoutMs} ms: ${late.join(', ')}.`,
      )
    }
  }

  /** Commits what was appended, lets sinks catch up for a moment, and gives the store free. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    if (!this.#ended && !this.#connection.readOnly) {
      await this.flush({ timeoutMs: closeFlushMs }).catch(() => undefined)
    }
    await Promise.all([...this.#feeds.values()].map((feed) => feed.close()))
    await Promise.all(this.#trimming.values())
    this.#end(new VitrineError('store_closed', 'The store was closed.'))
    await this.#committer.idle()
    await this.#connection.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #core(id: string): Promise<JournalCore & { readonly wakeup: Wakeup }> {
    if (typeof id !== 'string' || !/^[A-Za-z0-9_.-]{1,128}$/.test(id)) {
      throw new VitrineError(
        'argument_invalid',
        'journal: expected an id of letters, digits, "_", "." and "-".',
      )
    }
    const known = this.#journals.get(id)
    if (known) return known
    if (this.#ended) throw this.#ended
    const stored = await this.#connection.head(id)
    const raced = this.#journals.get(id)
    if (raced) return raced
    const empty = {
      id,
      incarnation: randomBytes(6).toString('base64url'),
      seq: 0,
      hash: genesis(id),
      time: 0,
      events: 0,
      bytes: 0,
    }
    const state: JournalState = { head: stored ?? empty }
    const wakeup = new Wakeup()
    const readHead = async () => {
      if (this.#connection.readOnly) state.head = (await this.#connection.head(id)) ?? state.head
      return state.head
    }
    const subject = journalSubject(id, wakeup, readHead)
    await subject.end()
    const core = {
      id,
      state,
      wakeup,
      subject,
      taps: new Taps(this.#settings.onTapError),
      gates: new Gates(),
      connection: this.#connection,
      committer: this.#committer,
      reader: this.#reader,
      workshop: this.#workshop,
      flush: (options?: FlushOptions) => this.flush(options),
      trim: (journal: JournalState, limits: RetentionLimits) => this.#trim(journal, limits),
    }
    this.#journals.set(id, core)
    return core
  }

  #committed(entries: readonly Entry[]): void {
    this.#recent.add(entries)
    const touched = new Set<string>()
    for (const { journal } of entries) touched.add(journal)
    for (const id of touched) {
      const core = this.#journals.get(id)
      if (core === undefined) continue
      if (core.taps.size > 0)
        core.taps.show(touched.size === 1 ? entries : entries.filter(({ journal }) => journal === id))
      core.wakeup.notify()
      if (isOverLimit(core.state, this.#settings.retention))
        void this.#trim(core.state, this.#settings.retention)
    }
    this.#wakeup.notify()
  }

  /** One trimming of a journal at a time; the second waits and then finds what is left to do. */
  async #trim(
    state: JournalState,
    limits: RetentionLimits,
  ): Promise<{ readonly events: number; readonly bytes: number }> {
    const { id } = state.head
    const background = limits === this.#settings.retention
    const under = this.#trimming.get(id)
    if (under && background) return { events: 0, bytes: 0 }
    await under
    const trimmer = {
      connection: this.#connection,
      committer: this.#committer,
      workshop: this.#workshop,
      signal: this.#closing.signal,
    }
    const work = trim(trimmer, state, limits)
    const quiet = work.catch(() => undefined).finally(() => this.#trimming.delete(id))
    this.#trimming.set(id, quiet)
    // In the background there is no one to tell; a failing store says so by its health.
    return background ? ((await quiet) ?? { events: 0, bytes: 0 }) : work
  }

  async #healthChanged(health: Health): Promise<void> {
    if (health.status === 'failing') {
      await this.#connection.reserve('free')
      return
    }
    await this.#connection.reserve('take')
    this.#note('limit.reached', { limit: 'disk', max: 0, failedForMs: Math.round(health.failedForMs ?? 0) })
  }

  /** Into the host's own journal, and never in anyone's way. */
  #note(type: string, data: { readonly [key: string]: unknown }): void {
    this.journal('host')
      .then((host) => host.append([{ type, data, derived: true }]))
      .catch(() => undefined)
  }

  #lose(error: VitrineError): void {
    this.#end(error)
    this.#lost.abort(error)
  }

  #end(error: VitrineError): void {
    if (this.#ended) return
    this.#ended = error
    this.#committer.end(error)
    for (const { wakeup } of this.#journals.values()) wakeup.notify()
    this.#wakeup.notify()
  }

  #mustWrite(): void {
    if (this.#ended) throw this.#ended
    if (this.#connection.readOnly)
      throw new VitrineError('store_read_only', 'The store was opened read-only.')
  }

  /** An idle host would not learn from a commit that it was taken over. */
  async #watchOwnership(): Promise<void> {
    await this.#every(ownershipCheckMs, async () => {
      if (this.#ended || (await this.#connection.owns())) return
      this.#lose(new VitrineError('store_fenced', 'Another host took this store over.'))
      await this.#connection.close()
    })
  }

  async #keepHouse(): Promise<void> {
    await this.#every(housekeepingMs, async () => {
      if (this.#ended) return
      await this.#blobs.sweep()
      for (const { state } of [...this.#journals.values()]) {
        if (this.#settings.retention.ageMs !== undefined) await this.#trim(state, this.#settings.retention)
      }
    })
  }

  /** A reader in another process learns of commits by looking. */
  async #followOwner(): Promise<void> {
    let last = await this.#connection.lastPosition()
    await this.#every(readOnlyPollMs, async () => {
      const position = await this.#connection.lastPosition()
      if (position === last) return
      last = position
      for (const { wakeup } of this.#journals.values()) wakeup.notify()
      this.#wakeup.notify()
    })
  }

  async #every(milliseconds: number, task: () => Promise<void>): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)
      if (signal.aborted) return
      // A look that failed is repeated; a commit that fails tells its caller.
      await task().catch(() => undefined)
    }
  }
}

export interface StoreStart {
  readonly lastPosition: number
  readonly openWork: readonly OpenWork[]
  readonly blobBytes: number
}
