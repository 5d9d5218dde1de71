import { setTimeout as sleep } from 'node:timers/promises'
import { type EventFilter, type JournalItem, toVitrineError, type VitrineError } from '@vitrine/protocol'
import type { Committer } from '../append/committer.ts'
import { applyPolicy } from '../policy/apply.ts'
import type { PolicyRules } from '../policy/policy.ts'
import type { ReadScope } from '../read/read-scope.ts'
import type { Reader } from '../read/reader.ts'
import { type ScannedItem, toItem } from '../read/scan.ts'
import type { StoreConnection } from '../stores/contract.ts'
import { Wakeup } from '../wakeup.ts'
import type { Sink } from './sink.ts'

/** Events that come close together go out together. */
const gatherMs = 25
const firstRetryMs = 100
const lastRetryMs = 30_000

export interface SinkState {
  readonly name: string
  readonly kind: string
  readonly status: 'ok' | 'failing' | 'closed'
  /** Commits that it has yet to see. */
  readonly lag: number
  readonly error?: VitrineError
}

/** What every feed of a store draws from. */
export interface FeedSource {
  readonly scope: ReadScope
  readonly reader: Reader
  readonly connection: StoreConnection
  readonly committer: Committer
  /** How long closing waits for the write under way, and again for the sink's own `close`. */
  readonly closeMs: number
  /** Writes `sink.failed` and `sink.recovered`. */
  onChange(type: 'sink.failed' | 'sink.recovered', data: { readonly [key: string]: unknown }): void
}

export interface FeedStart {
  readonly position: number
  readonly filter: EventFilter
  readonly rules: PolicyRules | undefined
}

/** Brings the journal to one sink: at least once, in order, from where the stored cursor stands. */
export class SinkFeed {
  readonly name: string
  readonly #source: FeedSource
  readonly #sink: Sink
  readonly #filter: EventFilter
  readonly #rules: PolicyRules | undefined
  readonly #closing = new AbortController()
  /** The write under way when a sink is closed gets a moment to end well. */
  readonly #writing = new AbortController()
  readonly #progress = new Wakeup()
  readonly #loop: Promise<void>
  /** Where the stored cursor stands, and where reading goes on: the same, while the store takes the cursor. */
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

  /** Once everything up to a position has arrived. */
  async caughtUp(position: number, signal: AbortSignal): Promise<void> {
    while (this.#position < position && !this.#closing.signal.aborted) {
      signal.throwIfAborted()
      const { version } = this.#progress
      if (this.#position >= position) return
      await this.#progress.since(version, signal)
    }
  }

  /** Stops after the write under way. Its cursor stays, and the next one of this name goes on from it. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#closing.abort()
    this.#progress.notify()
    const writeTimer = setTimeout(() => this.#writing.abort(), this.#source.closeMs)
    await Promise.race([this.#loop, aborted(this.#writing.signal)])
    clearTimeout(writeTimer)
    await waitAtMost(this.#sink.close?.(), this.#source.closeMs)
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
        // The store is closing or failing: what was not delivered is still there for the next start.
        if (signal.aborted) return
        await this.#pause(firstRetryMs, toVitrineError(error))
      }
    }
  }

  /** What was delivered is not delivered again because a full disk does not take the cursor. */
  async #advance(position: number): Promise<void> {
    const { committer, connection } = this.#source
    this.#read = position
    await committer.exclusively(() => connection.setSinkCursor(this.name, position))
    this.#position = position
    this.#progress.notify()
  }

  /** Tries one batch until the sink takes it or is closed. */
  async #deliver(events: readonly JournalItem[], scanned: number): Promise<void> {
    const { signal } = this.#closing
    const batch = {
      events,
      key: `${this.#source.connection.storeId}.${this.name}.${this.#read}-${scanned}`,
    }
    for (let retryMs = firstRetryMs; ; retryMs = Math.min(retryMs * 2, lastRetryMs)) {
      try {
        await this.#sink.write(batch, { signal: this.#writing.signal })
        this.#recovered()
        return
      } catch (thrown) {
        const error = toVitrineError(thrown, 'sink_rejected')
        this.#failed(error)
        if (signal.aborted) return
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

  /** What this sink may see of it; its own failures are not its business. */
  #narrow(found: ScannedItem): readonly JournalItem[] {
    const { scope } = this.#source
    const rules = this.#rules
    const item = toItem(found, (hole) => scope.cursor(hole.position))
    if (!('seq' in item)) return [item]
    const ofSink = item.type === 'sink.failed' || item.type === 'sink.recovered'
    if (ofSink && item.data.sink === this.name) return []
    if (rules === undefined) return [item]
    const data = applyPolicy(item.type, item.data, rules)
    return [data === item.data ? item : Object.freeze({ ...item, data })]
  }
}

/** Waits for something, but not for ever. */
async function waitAtMost(promise: Promise<void> | undefined, milliseconds: number): Promise<void> {
  const stopTimer = new AbortController()
  const timeLimit = sleep(milliseconds, undefined, { signal: stopTimer.signal }).catch(() => undefined)
  await Promise.race([promise, timeLimit]).finally(() => stopTimer.abort())
}

/** A sink that ignores its signal is left behind. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => setTimeout(resolve, 100), { once: true }),
  )
}
