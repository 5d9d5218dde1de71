import type { Journal } from '@vitrine/journal'
import { isGap, type JournalItem } from '@vitrine/protocol'
import { coverageFault } from '../../events/coverage.ts'

/** One reader of one journal that comes and goes, and remembers all it was ever given. */
export class Follower {
  readonly journal: string
  readonly items: JournalItem[] = []
  readonly #patient: boolean
  #start = 0
  #cursor: string | undefined
  #connection: { readonly abort: AbortController; readonly done: Promise<void> } | undefined

  /** A patient one lets others work between two items. */
  constructor(journal: string, patient: boolean) {
    this.journal = journal
    this.#patient = patient
  }

  get connected(): boolean {
    return this.#connection !== undefined
  }

  /** The `seq` up to which it knows everything. */
  get reached(): number {
    const last = this.items.at(-1)
    if (last === undefined) return this.#start
    return isGap(last) ? last.data.to : last.seq
  }

  /** Goes on where it was; a new one begins at the start or now. */
  connect(journal: Journal, from: 'start' | 'now' = 'start'): void {
    if (this.#connection) return
    const abort = new AbortController()
    let after = this.#cursor
    if (after === undefined && from === 'now') {
      this.#start = journal.head.seq
      this.#cursor = journal.cursor({ seq: this.#start })
      after = 'now'
    }
    const tail = journal.tail({ signal: abort.signal, ...(after !== undefined && { after }) })
    this.#connection = { abort, done: this.#follow(journal, tail) }
  }

  async #follow(journal: Journal, tail: AsyncIterable<JournalItem>): Promise<void> {
    try {
      for await (const item of tail) {
        this.items.push(item)
        this.#cursor = isGap(item) ? item.data.cursor : journal.cursor(item)
        if (this.#patient) await new Promise(setImmediate)
      }
    } catch {
      // Cut off with its host: it has its cursor, and comes back with it.
    }
  }

  async disconnect(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    connection?.abort.abort()
    await connection?.done
  }

  fault(end?: number): string | undefined {
    return coverageFault(this.items, { start: this.#start, ...(end !== undefined && { end }) })
  }
}
