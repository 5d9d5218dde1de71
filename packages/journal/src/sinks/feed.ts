import { setTimeout as sleep } from 'node:timers/promises'
import {
  type EventFilter,
  type JournalEvent,
  type JournalItem,
  type JsonObject,
  toVitrineError,
  type VitrineError,
} from '@vitrine/protocol'
import { Backoff, type ObserverErrors, settledWithin } from '@vitrine/protocol/primitives'
import type { Committer } from '../append/committer.ts'
import { applyPolicy } from '../policy/apply.ts'
import type { PolicyRules } from '../policy/policy.ts'
import type { ReadScope } from '../read/read-scope.ts'
import type { Reader } from '../read/reader.ts'
import { type ScannedItem, toItem } from '../read/scan.ts'
import type { StoreConnection } from '../stores/contract.ts'
import { Wakeup } from '../wakeup.ts'
import type { Sink } from './sink.ts'

/** Delay that collects events into one batch. */
const gatherMs = 25
const firstRetryMs = 100
const lastRetryMs = 30_000
/** How long closing waits for a sink to end an aborted write. */
const abortMs = 100

export interface SinkState {
  readonly name: string
  readonly kind: string
  readonly status: 'ok' | 'failing' | 'closed'
  /** The number of commits that the sink has not received yet. */
  readonly lag: number
  readonly error?: VitrineError
}

/** The parts of a store that every feed uses. */
export interface FeedSource {
  readonly scope: ReadScope
  readonly reader: Reader
  readonly connection: StoreConnection
  readonly committer: Committer
  /** How long closing waits for the current write, and again for the sink's own `close`. */
  readonly closeMs: number
  /** Writes `sink.failed` and `sink.recovered`. */
  onChange(type: 'sink.failed' | 'sink.recovered', data: { readonly [key: string]: unknown }): void
  /** The errors of callbacks that observe a sink. */
  readonly errors: ObserverErrors
}

export interface FeedStart {
  readonly position: number
  readonly filter: EventFilter
  readonly rules: PolicyRules | undefined
}

/** Delivers the store's events to one sink: at least once, in order, from the stored cursor. */
export class SinkFeed {
  readonly name: string
  readonly #source: FeedSource
  readonly #sink: Sink
  readonly #filter: EventFilter
  readonly #rules: PolicyRules | undefined
  readonly #closing = new AbortController()
  /** Aborts the current write if it does not finish within `closeMs` after closing. */
  readonly #writing = new AbortController()
  readonly #progress = new Wakeup()
  readonly #loop: Promise<void>
  /** The stored cursor and the read position. They differ only while the store cannot write the cursor. */
  #position: number
  #read: number
  #closed: Promise<void> | undefined
  #failedAt: number | undefined
  #error: VitrineError | undefined

  constructor(source: FeedSource, name: string, sink: Sink, { position, filter, rules }: FeedStart) {
    this.name = name
    this.#source = source
    this.#sink = sink
    this.#filter = filter
    this.#rules = rules
    this.#position = position
    this.#read = position
    this.#loop = this.#run()
  }

  get state(): SinkState {
    const status = this.#closing.signal.aborted ? 'closed' : this.#error ? 'failing' : 'ok'
    const lag = Math.max(0, this.#source.committer.position - this.#position)
    return {
      name: this.name,
      kind: this.#sink.kind,
      status,
      lag,
      ...(this.#error && { error: this.#error }),
    }
  }

  /** Resolves once everything up to a position is delivered. */
  async caughtUp(position: number, signal: AbortSignal): Promise<void> {
    while (this.#position < position && !this.#closing.signal.aborted) {
      signal.throwIfAborted()
      const { version } = this.#progress
      if (this.#position >= position) return
      await this.#progress.since(version, signal)
    }
  }

  /** Stops after the current write. The cursor stays, and the next sink with this name continues from it. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#closing.abort()
    this.#progress.notify()
    const { closeMs } = this.#source
    if (!(await settledWithin(this.#loop, closeMs, { ref: true }))) {
      this.#writing.abort()
      await settledWithin(this.#loop, abortMs, { ref: true })
    }
    const closed = this.#sink.close?.()
    if (await settledWithin(closed, closeMs, { ref: true })) await closed
  }

  async #run(): Promise<void> {
    const { scope, reader } = this.#source
    const { signal } = this.#closing
    const limit = this.#sink.batchEvents ?? 1_000
    while (!signal.aborted) {
      const { version } = scope.wakeup
      try {
        const { found, scanned } = await reader.after(scope, this.#read, this.#filter, limit, signal)
        if (scanned === this.#read) {
          if (this.#position < this.#read) await this.#advance(this.#read)
          else await scope.wakeup.since(version, signal)
          continue
        }
        const events = found.flatMap((one) => this.#narrow(one))
        if (events.length > 0) await this.#deliver(events, scanned)
        else if (this.#failedAt === undefined) this.#error = undefined
        if (signal.aborted && this.#error) return
        await this.#advance(scanned)
        if (found.length < limit) await sleep(gatherMs, undefined, { signal }).catch(() => undefined)
      } catch (error) {
        // The store is closing or failing: undelivered events are delivered after the next start.
        if (signal.aborted) return
        await this.#pause(firstRetryMs, toVitrineError(error))
      }
    }
  }

  /** Advances the read position first, so that a full disk that rejects the cursor causes no second delivery. */
  async #advance(position: number): Promise<void> {
    const { committer, connection } = this.#source
    this.#read = position
    await committer.runExclusive(() => connection.setSinkCursor(this.name, position))
    this.#position = position
    this.#progress.notify()
  }

  /** Retries one batch until the sink accepts it or is closed. */
  async #deliver(events: readonly JournalItem[], scanned: number): Promise<void> {
    const { signal } = this.#closing
    const batch = {
      events,
      key: `${this.#source.connection.storeId}.${this.name}.${this.#read}-${scanned}`,
    }
    const backoff = new Backoff(firstRetryMs, lastRetryMs)
    for (;;) {
      try {
        await this.#sink.write(batch, {
          signal: this.#writing.signal,
          onObserverError: (observer, error) => this.#source.errors.report(observer, error),
        })
        this.#recovered()
        return
      } catch (thrown) {
        const error = toVitrineError(thrown, 'sink_rejected')
        this.#failed(error)
        if (signal.aborted) return
        const retryMs = backoff.next()
        const requestedMs = error.details.retryAfterMs
        await this.#pause(
          typeof requestedMs === 'number' ? Math.min(Math.max(requestedMs, retryMs), lastRetryMs) : retryMs,
          error,
        )
        if (signal.aborted) return
      }
    }
  }

  async #pause(milliseconds: number, error: VitrineError): Promise<void> {
    this.#error = error
    const jittered = milliseconds * (0.5 + Math.random() / 2)
    await sleep(jittered, undefined, { signal: this.#closing.signal }).catch(() => undefined)
  }

  #failed(error: VitrineError): void {
    this.#error = error
    if (this.#failedAt !== undefined) return
    this.#failedAt = performance.now()
    const { code, message, retryable } = error
    this.#source.onChange('sink.failed', {
      sink: this.name,
      errorType: error.name,
      errorCode: code,
      errorMessage: message,
      retryable,
    })
  }

  #recovered(): void {
    this.#error = undefined
    if (this.#failedAt === undefined) return
    const failedForMs = Math.round(performance.now() - this.#failedAt)
    this.#failedAt = undefined
    this.#source.onChange('sink.recovered', { sink: this.name, failedForMs })
  }

  /** Applies the sink's policy, and drops events about the sink's own failures. */
  #narrow(found: ScannedItem): readonly JournalItem[] {
    const { scope } = this.#source
    const rules = this.#rules
    const item = toItem(found, (hole) => scope.cursor(hole.position))
    if (!('seq' in item)) return [item]
    const ofSink = item.type === 'sink.failed' || item.type === 'sink.recovered'
    if (ofSink && item.data.sink === this.name) return []
    if (rules === undefined) return [item]
    return [underPolicy(item, rules)]
  }
}

/** A policy keeps the fields that the event's schema requires. */
function underPolicy(event: JournalEvent, rules: PolicyRules): JournalEvent {
  const data = applyPolicy(event.type, event.data as JsonObject, rules)
  return data === event.data ? event : (Object.freeze({ ...event, data }) as JournalEvent)
}
