import type { Journal } from '@vitrine/journal'

const maxNamed = 100
const sayMs = 50

/** Says which parts of the workspace are not followed, once for each, some at a time. */
export class Uncovered {
  readonly #journal: Journal
  readonly #known = new Set<string>()
  readonly #waiting = new Map<string, { readonly paths: string[]; count: number }>()
  #timer: NodeJS.Timeout | undefined
  #saying: Promise<unknown> = Promise.resolve()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  add(path: string, reason: string): void {
    const key = `${reason}\0${path}`
    if (this.#known.has(key)) return
    // Bounded: beyond this, one more is not worth its memory.
    if (this.#known.size < 10_000) this.#known.add(key)
    const waiting = this.#waiting.get(reason) ?? { paths: [], count: 0 }
    if (waiting.paths.length < maxNamed) waiting.paths.push(path === '' ? '.' : path)
    waiting.count += 1
    this.#waiting.set(reason, waiting)
    this.#timer ??= setTimeout(() => void this.said(), sayMs).unref()
  }

  async said(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const events = [...this.#waiting].map(([reason, { paths, count }]) => ({
      type: 'watch.degraded',
      data: { reason, uncovered: paths.map((path) => path.toWellFormed()), count },
    }))
    this.#waiting.clear()
    if (events.length > 0)
      this.#saying = this.#saying.then(() => this.#journal.append(events)).catch(() => undefined)
    await this.#saying
  }
}
