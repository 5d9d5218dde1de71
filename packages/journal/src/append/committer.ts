import {
  isVitrineError,
  type JournalEvent,
  type OpenWork,
  toVitrineError,
  VitrineError,
  type WorkKindName,
} from '@vitrine/protocol'
import { Backoff, Serial } from '@vitrine/protocol/primitives'
import type { Entry } from '../entry.ts'
import type { JournalHead, StoreConnection } from '../stores/contract.ts'
import { CommitPlan, type CommitRequest, workKey } from './plan.ts'

const maxBatchEvents = 1_024
const maxBatchBytes = 4 * 1024 * 1024
const firstRetryMs = 50
const lastRetryMs = 5_000

/** A journal's head in memory: the next event is chained to it. */
export interface JournalState {
  head: JournalHead
}

interface PendingCommit {
  readonly journal: JournalState
  readonly request: CommitRequest
  readonly size: number
  /** End events stay queued while the disk fails; all others are rejected at once. */
  readonly ending: boolean
  /** Increases with each append. */
  readonly ticket: number
  resolve(events: readonly JournalEvent[]): void
  reject(error: unknown): void
}

export interface CommitterOptions {
  readonly connection: StoreConnection
  readonly lastPosition: number
  readonly openWork: readonly OpenWork[]
  readonly maxPendingBytes: number
  readonly maxPendingEndings: number
  onCommitted(entries: readonly Entry[], journals: Iterable<string>): void
  onHealth(health: Health): void
  onLost(error: VitrineError): void
}

export type Health =
  | {
      readonly status: 'ok'
      readonly failedFor?: { readonly milliseconds: number; readonly error: VitrineError }
    }
  | { readonly status: 'failing'; readonly error: VitrineError }

/** The only writer: commits all appends of one tick in one transaction and publishes them afterwards. */
export class Committer {
  readonly #options: CommitterOptions
  readonly #openWork: Map<string, OpenWork>
  #idleWaiters: { readonly ticket: number; resolve(): void }[] = []
  #tickets = 0
  #queue: PendingCommit[] = []
  #pendingBytes = 0
  #position: number
  #running = false
  readonly #serial = new Serial()
  #failing:
    | { since: number; backoff: Backoff; error: VitrineError; timer: NodeJS.Timeout | undefined }
    | undefined
  #ended: VitrineError | undefined

  constructor(options: CommitterOptions) {
    this.#options = options
    this.#position = options.lastPosition
    this.#openWork = new Map(options.openWork.map((work) => [workKey(work), work]))
  }

  get health(): Health {
    return this.#failing ? { status: 'failing', error: this.#failing.error } : { status: 'ok' }
  }

  get position(): number {
    return this.#position
  }

  /** Throws once the committer has ended. */
  assertOpen(): void {
    if (this.#ended) throw this.#ended
  }

  append(
    journal: JournalState,
    request: CommitRequest,
    { size, ending }: { size: number; ending: boolean },
  ): Promise<readonly JournalEvent[]> {
    const refusal = this.#refusal(size, ending)
    if (refusal) return Promise.reject(refusal)
    return new Promise((resolve, reject) => {
      this.#tickets += 1
      this.#queue.push({ journal, request, size, ending, ticket: this.#tickets, resolve, reject })
      this.#pendingBytes += size
      if (!this.#failing) this.#start()
    })
  }

  #refusal(size: number, ending: boolean): VitrineError | undefined {
    if (this.#ended) return this.#ended
    const { maxPendingBytes, maxPendingEndings } = this.#options
    if (this.#failing && (!ending || this.#queue.length >= maxPendingEndings)) return this.#failing.error
    if (this.#pendingBytes > 0 && this.#pendingBytes + size > maxPendingBytes && !ending) {
      return new VitrineError(
        'journal_overloaded',
        `More than maxPendingBytes (${maxPendingBytes}) bytes of events are waiting to be committed.`,
        {
          details: { limit: maxPendingBytes },
        },
      )
    }
    return undefined
  }

  /** Work of these kinds that is open in a journal, by the commits so far. */
  openWork(journal: string, kinds: readonly WorkKindName[]): readonly OpenWork[] {
    return [...this.#openWork.values()].filter(
      (work) => work.journal === journal && kinds.includes(work.kind),
    )
  }

  /** Runs a change of the store that is not an append, and lets no commit run meanwhile. */
  runExclusive<T>(task: () => Promise<T>): Promise<T> {
    return this.#serial.run(() => {
      if (this.#ended) throw this.#ended
      return task()
    })
  }

  /** Resolves once everything appended so far is committed or rejected. */
  idle(signal?: AbortSignal): Promise<void> {
    if (this.#queue.length === 0 && !this.#running) return Promise.resolve()
    if (signal?.aborted) return Promise.reject(signal.reason)
    return new Promise((resolve, reject) => {
      const waiter = { ticket: this.#tickets, resolve: () => settleWith(resolve) }
      const onAbort = () => {
        this.#idleWaiters = this.#idleWaiters.filter((other) => other !== waiter)
        settleWith(() => reject(signal?.reason))
      }
      const settleWith = (settlePromise: () => void) => {
        signal?.removeEventListener('abort', onAbort)
        settlePromise()
      }
      this.#idleWaiters.push(waiter)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Stops committing and rejects pending appends with this error. */
  end(error: VitrineError): void {
    this.#ended ??= error
    clearTimeout(this.#failing?.timer)
    for (const pending of this.#queue.splice(0)) pending.reject(error)
    this.#pendingBytes = 0
    this.#resolveIdle()
  }

  #start(): void {
    if (this.#running) return
    this.#running = true
    setImmediate(() => void this.#run())
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0 && !this.#ended) {
      const plan = new CommitPlan(this.#openWork, this.#position)
      const taken = this.#take(plan)
      if (taken.length === 0) continue
      try {
        await this.runExclusive(() => this.#options.connection.commit(plan.batch()))
      } catch (error) {
        if (!this.#handleCommitError(error, taken)) continue
        break
      }
      this.#onCommitted(plan, taken)
      this.#resolveIdle()
      // Yield to readers and I/O between two transactions.
      if (this.#queue.length > 0) await new Promise(setImmediate)
    }
    this.#running = false
    this.#resolveIdle()
    if (this.#queue.length > 0) return
    // Committed end events do not prove that the disk has space for more: probe it.
    if (this.#failing) void this.#retry()
  }

  #take(plan: CommitPlan): { pending: PendingCommit; entries: readonly Entry[] }[] {
    const taken: { pending: PendingCommit; entries: readonly Entry[] }[] = []
    let next = 0
    for (; next < this.#queue.length; next += 1) {
      if (plan.entries.length >= maxBatchEvents || plan.bytes >= maxBatchBytes) break
      const pending = this.#queue[next]!
      try {
        taken.push({ pending, entries: plan.add(pending.journal.head, pending.request) })
      } catch (error) {
        this.#pendingBytes -= pending.size
        pending.reject(error)
      }
    }
    this.#queue = next === this.#queue.length ? [] : this.#queue.slice(next)
    return taken
  }

  #onCommitted(
    plan: CommitPlan,
    taken: readonly { pending: PendingCommit; entries: readonly Entry[] }[],
  ): void {
    this.#position = plan.position
    for (const [key, work] of plan.changes) {
      if (work) this.#openWork.set(key, work)
      else this.#openWork.delete(key)
    }
    for (const { pending, entries } of taken) {
      const head = plan.heads.get(pending.journal.head.id)
      if (head) pending.journal.head = head
      this.#pendingBytes -= pending.size
      pending.resolve(entries.map(({ event }) => event))
    }
    this.#options.onCommitted(plan.entries, plan.heads.keys())
  }

  /** Whether the commit is retried later. Otherwise the taken appends are rejected and the next batch may run. */
  #handleCommitError(error: unknown, taken: readonly { pending: PendingCommit }[]): boolean {
    const code = isVitrineError(error) ? error.code : undefined
    if (code === 'store_failing' || code === 'store_busy') {
      this.#fail(
        error as VitrineError,
        taken.map(({ pending }) => pending),
      )
      return true
    }
    for (const { pending } of taken) {
      this.#pendingBytes -= pending.size
      pending.reject(error)
    }
    if (isLoss(error)) this.#options.onLost(error)
    return false
  }

  #fail(error: VitrineError, taken: readonly PendingCommit[]): void {
    const all = [...taken, ...this.#queue]
    this.#queue = all.filter((pending) => pending.ending)
    for (const pending of all) {
      if (pending.ending) continue
      this.#pendingBytes -= pending.size
      pending.reject(error)
    }
    const first = this.#failing === undefined
    const backoff = this.#failing?.backoff ?? new Backoff(firstRetryMs, lastRetryMs)
    const since = this.#failing?.since ?? performance.now()
    const timer = setTimeout(() => void this.#retry(), backoff.next())
    this.#failing = { since, backoff, error, timer }
    if (first) this.#options.onHealth({ status: 'failing', error })
  }

  async #retry(): Promise<void> {
    if (this.#ended || !this.#failing) return
    if (this.#queue.length > 0) {
      this.#start()
      return
    }
    try {
      await this.runExclusive(() => this.#options.connection.probe())
    } catch (error) {
      if (isLoss(error)) this.#options.onLost(error)
      else this.#fail(toVitrineError(error, 'store_failing'), [])
      return
    }
    const { since, error } = this.#failing
    this.#failing = undefined
    this.#options.onHealth({ status: 'ok', failedFor: { milliseconds: performance.now() - since, error } })
    if (this.#queue.length > 0) this.#start()
  }

  /** Resolves `idle()` callers whose appends have all left the queue. */
  #resolveIdle(): void {
    const first = this.#queue[0]?.ticket ?? Number.POSITIVE_INFINITY
    const settled = this.#idleWaiters.filter(({ ticket }) => ticket < first)
    if (settled.length === 0) return
    this.#idleWaiters = this.#idleWaiters.filter(({ ticket }) => ticket >= first)
    for (const { resolve } of settled) resolve()
  }
}

/** Whether the error is permanent: this connection can never commit again. */
function isLoss(error: unknown): error is VitrineError {
  return isVitrineError(error) && (error.code === 'store_fenced' || error.code === 'store_corrupt')
}
