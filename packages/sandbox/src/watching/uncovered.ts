import type { Journal } from '@vitrine/journal'
import { Serial } from '@vitrine/protocol/primitives'

const maxNamed = 100
const batchMs = 50

/** Reports the parts of the workspace that are not watched, each once, in batches. */
export class UncoveredReporter {
  readonly #journal: Journal
  readonly #known = new Set<string>()
  readonly #pending = new Map<string, { readonly paths: string[]; count: number }>()
  readonly #serial = new Serial()
  #timer: NodeJS.Timeout | undefined

  constructor(journal: Journal) {
    this.#journal = journal
  }

  add(path: string, reason: string): void {
    const key = `${reason}\0${path}`
    if (this.#known.has(key)) return
    // Limits memory: beyond this number, a path may be reported again.
    if (this.#known.size < 10_000) this.#known.add(key)
    const pending = this.#pending.get(reason) ?? { paths: [], count: 0 }
    if (pending.paths.length < maxNamed) pending.paths.push(path === '' ? '.' : path)
    pending.count += 1
    this.#pending.set(reason, pending)
    this.#timer ??= setTimeout(() => void this.flush(), batchMs).unref()
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const events = [...this.#pending].map(([reason, { paths, count }]) => ({
      type: 'watch.degraded',
      data: { reason, uncovered: paths.map((path) => path.toWellFormed()), count },
    }))
    this.#pending.clear()
    await this.#serial
      .run(async () => {
        if (events.length > 0) await this.#journal.append(events)
      })
      .catch(() => undefined)
  }
}
