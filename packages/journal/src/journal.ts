import {
  type ByteRange,
  checkEventInput,
  type EventContext,
  type EventInput,
  type EventSource,
  type ExportedItem,
  type ExportOptions,
  interruptedEnd,
  isVitrineError,
  type JournalEvent,
  type JournalGap,
  type JournalItem,
  type JournalOrigin,
  type MatchedItem,
  type Page,
  type ReadOptions,
  type RememberedHead,
  type Summary,
  type SummaryOptions,
  type TailExportOptions,
  type TailOptions,
  type Verification,
  type VerifyOptions,
  type WorkKindName,
} from '@vitrine/protocol'
import { checkOptions, journalOptions } from '@vitrine/protocol/options'
import { itemSeq, type ObserverErrors } from '@vitrine/protocol/primitives'
import type { Committer, JournalState } from './append/committer.ts'
import {
  type AppendStages,
  type EventWriter,
  type PreparedAppend,
  prepare,
  prepareRedacted,
} from './append/prepare.ts'
import { type JournalStream, RedactingStream, type StreamOptions } from './append/redacting-stream.ts'
import type { Blobs, PreparedBlob } from './blobs/blobs.ts'
import type { Gate, GateOptions, Gates } from './gates/gates.ts'
import { type ImportOptions, type ImportResult, importItems } from './import-items.ts'
import { verifyJournal } from './integrity/verify.ts'
import { currentOperation } from './operate/current-operation.ts'
import {
  type OperateOptions,
  type Operation,
  type OperationHost,
  operate,
  operateInOneCommit,
} from './operate/operate.ts'
import { applyPolicy } from './policy/apply.ts'
import type { EncodedEvent, TailEncodedOptions } from './read/encoded-event.ts'
import type { EncodedExport, Exporter, TailExportEncodedOptions } from './read/exporting.ts'
import type { ReadScope } from './read/read-scope.ts'
import type { EncodedPage, Reader } from './read/reader.ts'
import type { Tail } from './read/tail.ts'
import type { RedactedBytes } from './redact/redactor.ts'
import type { RetentionLimits } from './retention/retention.ts'
import type { StoreConnection } from './stores/contract.ts'
import type { Tap, TapOptions, Taps, Untap } from './taps/taps.ts'

/** The source and the context fields of every event that this handle appends. */
export interface WriterOptions extends EventContext {
  readonly source?: EventSource
  /** The provider's name, for spans. */
  readonly backend?: string
  /** A W3C traceparent header: top-level operations join this trace. */
  readonly traceparent?: string
}

/** State that all handles of one journal share. */
export interface JournalCore {
  readonly id: string
  readonly state: JournalState
  readonly scope: ReadScope
  readonly taps: Taps
  readonly observerErrors: ObserverErrors
  readonly gates: Gates
  readonly connection: StoreConnection
  readonly committer: Committer
  readonly reader: Reader
  readonly exporter: Exporter
  readonly stages: AppendStages
  readonly blobs: Blobs
  flush(options?: FlushOptions): Promise<void>
  trim(
    state: JournalState,
    limits: RetentionLimits,
  ): Promise<{ readonly events: number; readonly bytes: number }>
}

export interface FlushOptions {
  /** Default 30 s. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** The append-only record of one subject: a sandbox, a loop, or the host itself. */
export class Journal implements JournalOrigin {
  readonly id: string
  readonly #core: JournalCore
  readonly #writer: EventWriter
  readonly #backend: string
  readonly #traceparent: string | undefined

  constructor(core: JournalCore, options: WriterOptions = {}) {
    const { source = 'host', backend = 'local', traceparent, ...context } = options
    this.id = core.id
    this.#core = core
    this.#writer = { source, context }
    this.#backend = backend
    this.#traceparent = traceparent
  }

  /** The newest event's `seq` and hash. Passed to `verify` later, it detects removed trailing events. */
  get head(): RememberedHead {
    const { seq, hash } = this.#core.state.head
    return { seq, hash }
  }

  /** A handle of the same journal that adds this context to the events it appends. */
  as(options: WriterOptions): Journal {
    checkOptions('as', journalOptions.writer, options)
    const { source, context } = this.#writer
    const trace = this.#traceparent === undefined ? {} : { traceparent: this.#traceparent }
    return new Journal(this.#core, { source, backend: this.#backend, ...trace, ...context, ...options })
  }

  cursor(item: { readonly journal?: string; readonly seq: number } | JournalGap): string {
    return this.#core.scope.cursor(itemSeq(this.id, item))
  }

  async blob(hash: string, range?: ByteRange): Promise<ReadableStream<Uint8Array>> {
    this.#core.reader.assertOpen()
    return this.#core.blobs.read(hash, range)
  }

  /** Resolves with the events as stored once they are committed, all or none of them. */
  append(
    events: readonly EventInput[],
    options?: { readonly blobs?: readonly PreparedBlob[] },
  ): Promise<readonly JournalEvent[]> {
    checkOptions('append', journalOptions.append, options)
    return this.#commit(prepare, events, this.#currentWriter(), options?.blobs ?? [])
  }

  /**
   * A range of bytes to append, with the secrets masked that are partly inside. A secret that is cut off would not be
   * recognised afterwards: give the bytes around the range too.
   */
  redactExcerpt(bytes: Uint8Array, start: number, end: number): Uint8Array {
    return this.#core.stages.redactor.redactExcerpt(bytes, start, end)
  }

  /**
   * The bytes from an index on, for a stream of events whose earlier bytes are left out: masks a secret that begins before
   * the index, which the stream would not recognise.
   */
  redactContinued(bytes: Uint8Array, start: number): RedactedBytes {
    return this.#core.stages.redactor.redactContinued(bytes, start)
  }

  /** For events that continue each other: also masks secrets that are split over several events. */
  stream(options?: StreamOptions): JournalStream {
    checkOptions('stream', journalOptions.stream, options)
    return new RedactingStream({
      retryWhileFailing: options?.retryWhileFailing ?? false,
      channelOf: (event) => options?.channelOf?.(event) ?? '',
      redactor: this.#core.stages.redactor,
      check: (events) => events.forEach(checkEventInput),
      writer: () => this.#currentWriter(),
      policed: (type, data, op) => applyPolicy(type, data, this.#core.stages.policy, op),
      append: (events) => this.#commit(prepareRedacted, events, { source: this.#writer.source, context: {} }),
    })
  }

  #commit(
    prepared: typeof prepare,
    events: readonly EventInput[],
    writer = this.#currentWriter(),
    blobs: readonly PreparedBlob[] = [],
  ): Promise<readonly JournalEvent[]> {
    let append: PreparedAppend
    try {
      append = prepared(events, writer, this.#core.stages)
      append.attachBlobs(blobs.map(({ blob }) => blob))
    } catch (error) {
      return Promise.reject(error)
    }
    return this.#core.committer.append(this.#core.state, append, append)
  }

  /** Inside an operation of this journal, appended events carry the operation's context. */
  #currentWriter(): EventWriter {
    const around = currentOperation.getStore()
    if (around?.journal !== this.id) return this.#writer
    const context = { ...around.context, ...this.#writer.context }
    return { source: this.#writer.source, context, op: around.op }
  }

  read<const Pattern extends string = string>(options?: ReadOptions<Pattern>): Promise<Page<Pattern>>
  read(options?: ReadOptions): Promise<Page> {
    return this.#core.reader.page(this.#core.scope, options)
  }

  /** Like `read`, with each item as its stored JSON: for code that forwards events, such as a server. */
  readEncoded(options?: ReadOptions): Promise<EncodedPage> {
    return this.#core.reader.encodedPage(this.#core.scope, options)
  }

  tail<const Pattern extends string = string>(
    options?: TailOptions<Pattern>,
  ): AsyncIterableIterator<MatchedItem<Pattern>>
  tail(options?: TailOptions): AsyncIterableIterator<JournalItem> {
    return this.#core.reader.tail(this.#core.scope, options)
  }

  /** Like `tail`, with each item's cursor and stored JSON: for code that forwards events, such as a server. */
  tailEncoded(options?: TailEncodedOptions): Tail<EncodedEvent> {
    return this.#core.reader.tailEncoded(this.#core.scope, options)
  }

  summary(options?: SummaryOptions): Promise<Summary> {
    return this.#core.reader.summary(this.#core.scope, options)
  }

  /** Calls a function with copies of events as they are committed, best effort. */
  tap<const Pattern extends string = string>(tap: Tap<Pattern>, options?: TapOptions<Pattern>): Untap
  tap(tap: Tap, options?: TapOptions): Untap {
    return this.#core.taps.add(tap, options)
  }

  /** Adds a gate: a function that allows or denies each operation before it runs. */
  gate(name: string, gate: Gate, options?: GateOptions): () => void {
    return this.#core.gates.add(name, gate, options)
  }

  /** Runs a function as an operation: records its start, asks the gates, traces it, records its end. */
  operate<T>(
    op: string,
    data: { readonly [key: string]: unknown },
    run: (operation: Operation) => T | Promise<T>,
    options?: OperateOptions<T>,
  ): Promise<T> {
    checkOptions('operate', journalOptions.operate, options)
    return operate(this.#operationHost(), op, data, run, this.#traced(options))
  }

  /** Runs a synchronous, read-only function as an operation whose start and end are one commit. */
  operateInOneCommit<T>(
    op: string,
    data: { readonly [key: string]: unknown },
    run: () => T,
    options?: OperateOptions<T>,
  ): Promise<T> {
    checkOptions('operateInOneCommit', journalOptions.operate, options)
    return operateInOneCommit(this.#operationHost(), op, data, run, this.#traced(options))
  }

  /** Reports the errors of observers of calls that this journal records. */
  get observerErrors(): ObserverErrors {
    return this.#core.observerErrors
  }

  #operationHost(): OperationHost {
    return {
      journal: this.id,
      backend: this.#backend,
      context: this.#writer.context,
      gates: this.#core.gates,
      append: (events) => this.append(events),
      onTracerError: (error) => this.#core.observerErrors.report('tracer', error),
    }
  }

  #traced<T>(options: OperateOptions<T> | undefined): OperateOptions<T> {
    // A nested operation joins its parent's trace instead.
    const nested = currentOperation.getStore()?.journal === this.id
    const trace = this.#traceparent === undefined || nested ? {} : { traceparent: this.#traceparent }
    return { ...trace, ...options }
  }

  export(options?: ExportOptions): Promise<readonly ExportedItem[]> {
    return this.#core.exporter.page(options)
  }

  /** Like `export`, with each item as JSON: for code that forwards items, such as a server. */
  exportEncoded(options?: ExportOptions): Promise<readonly EncodedExport[]> {
    return this.#core.exporter.encodedPage(options)
  }

  tailExport(options?: TailExportOptions): AsyncIterableIterator<ExportedItem> {
    return this.#core.exporter.tail(options)
  }

  /** Like `tailExport`, with each item as JSON: for code that forwards items, such as a server. */
  tailExportEncoded(options?: TailExportEncodedOptions): Tail<EncodedExport> {
    return this.#core.exporter.tailEncoded(options)
  }

  /** Takes another store's events with their `seq` and hash, skips those that are here, and copies their blobs. */
  async import(items: readonly ExportedItem[], options: ImportOptions = {}): Promise<ImportResult> {
    checkOptions('import', journalOptions.import, options)
    const { id, state, committer, blobs } = this.#core
    return importItems({ journal: id, state, committer, blobs }, items, options)
  }

  /**
   * Ends open work of these kinds as `interrupted`: for an owner that removes what the work needs, such as the sandbox of a
   * run. No work of these kinds may start any more.
   */
  async interruptWork(kinds: readonly WorkKindName[], reason: string): Promise<void> {
    const { committer } = this.#core
    await committer.idle()
    await Promise.all(
      committer.openWork(this.id, kinds).map((work) =>
        this.append([interruptedEnd(work, reason)]).catch((error: unknown) => {
          // Its own program ended it meanwhile.
          if (!isVitrineError(error) || error.code !== 'work_not_open') throw error
        }),
      ),
    )
  }

  /** Trims this journal below these limits now. */
  async trim(limits: RetentionLimits): Promise<{ readonly events: number; readonly bytes: number }> {
    checkOptions('trim', journalOptions.retention, limits)
    return this.#core.trim(this.#core.state, limits)
  }

  /** Resolves once everything appended is committed and delivered to every sink. */
  flush(options?: FlushOptions): Promise<void> {
    return this.#core.flush(options)
  }

  /** Checks the hash chain. With a `head` stored elsewhere, it also proves that no trailing events were removed. */
  async verify(options: VerifyOptions = {}): Promise<Verification> {
    checkOptions('verify', journalOptions.verify, options)
    const { head, signal } = options
    this.#core.reader.assertOpen()
    return verifyJournal(this.#core.connection, this.id, head, signal)
  }
}
