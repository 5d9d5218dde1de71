import type { Journal } from '@vitrine/journal'
import type { ReachedLimit } from '@vitrine/protocol'

type LimitName = ReachedLimit['limit']

/** Records reached limits: each once while it lasts, and once more for each process that ran into it. */
export class LimitReports {
  readonly #journal: Journal
  /** The limits that are reached now, with the process that was named. */
  readonly #ongoing = new Map<LimitName, string | undefined>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  get isAnyOngoing(): boolean {
    return this.#ongoing.size > 0
  }

  isOngoing(limit: LimitName): boolean {
    return this.#ongoing.has(limit)
  }

  /** The limit is not reached any more. */
  end(limit: LimitName): void {
    this.#ongoing.delete(limit)
  }

  /** `ended` is the number of processes that are ended because of it. */
  report(
    { limit, max }: ReachedLimit,
    process?: string,
    data: { readonly ended?: number; readonly bytes?: number } = {},
  ): void {
    const isKnown =
      this.#ongoing.has(limit) && (process === undefined || this.#ongoing.get(limit) === process)
    if (isKnown && !data.ended) return
    this.#ongoing.set(limit, process)
    const named = process === undefined ? {} : { process }
    this.#journal
      .append([{ type: 'limit.reached', data: { limit, max, ...named, ...data } }])
      .catch(() => undefined)
  }
}
