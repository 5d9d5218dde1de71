import type { JournalState } from '../append/committer.ts'
import type { JournalHead } from '../stores/contract.ts'
import { isOverLimit, type RetentionLimits, type Trimmer, type TrimResult, trim } from './retention.ts'

/** Trims the journals of a store, at most one run per journal at a time. */
export class Trimming {
  readonly #trimmer: Trimmer
  readonly #limits: RetentionLimits
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(trimmer: Trimmer, limits: RetentionLimits) {
    this.#trimmer = trimmer
    this.#limits = limits
  }

  /** Called after a commit: starts trimming in the background if the journal exceeds its size limits. */
  trimIfOverLimit(journal: JournalState): void {
    if (!isOverLimit(journal, this.#limits) || this.#running.has(journal.head.id)) return
    // No caller waits for this; a failing store is reported by its health.
    this.trim(journal, this.#limits).catch(() => undefined)
  }

  /** Whether a journal exceeds its size limits or has an event that is too old. */
  async isDue(head: JournalHead): Promise<boolean> {
    if (isOverLimit({ head }, this.#limits)) return true
    if (this.#limits.ageMs === undefined) return false
    // The newest event is never trimmed.
    const oldest = { journal: head.id, from: 0, to: head.seq - 1, order: 'asc', limit: 1 } as const
    const [row] = await this.#trimmer.connection.index(oldest)
    return row !== undefined && row.time < Date.now() - this.#limits.ageMs
  }

  /** Trims to the store's own limits; called periodically. */
  async trimToDefaults(journal: JournalState): Promise<void> {
    await this.trim(journal, this.#limits)
  }

  /** Waits for a running trim of this journal, then trims the rest. */
  async trim(journal: JournalState, limits: RetentionLimits): Promise<TrimResult> {
    this.#trimmer.committer.assertOpen()
    const { id } = journal.head
    while (this.#running.has(id)) await this.#running.get(id)
    const work = trim(this.#trimmer, journal, limits)
    const idle = work.catch(() => undefined).finally(() => this.#running.delete(id))
    this.#running.set(id, idle)
    return work
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running.values())
  }
}
