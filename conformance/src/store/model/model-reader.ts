import type { Journal } from '@vitrine/journal'
import { isGap, type JournalItem } from '@vitrine/protocol'
import { coverageFault } from '../../events/coverage.ts'

/** A reader of one journal that connects and disconnects, and records all items it received. */
export class ModelReader {
  readonly journal: string
  readonly items: JournalItem[] = []
  readonly #yields: boolean
  #start = 0
  #cursor: string | undefined
  #connection: { readonly abort: AbortController; readonly done: Promise<void> } | undefined

  /** With `yields`, it yields to the event loop between two items. */
  constructor(journal: string, yields: boolean) {
    this.journal = journal
    this.#yields = yields
  }

  get connected(): boolean {
    return this.#connection !== undefined
  }

  /** The last `seq` that it has received or knows as trimmed. */
  get reached(): number {
    const last = this.items.at(-1)
    if (last === undefined) return this.#start
    return isGap(last) ? last.data.to : last.seq
  }

  /** Resumes at its cursor; a new reader begins at the start or now. */
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
        if (this.#yields) await new Promise(setImmediate)
      }
    } catch {
      // The host stopped: the reader resumes later with its cursor.
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
