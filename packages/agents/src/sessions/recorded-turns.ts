import { type JournalEvent, type JournalReader, readPages } from '@vitrine/protocol'
import { IdFilter } from './id-filter.ts'
import { recordAfter, type TurnRecord } from './recorded-turn.ts'

const types = ['turn.*', 'prompt.*']

/**
 * The turns that the journal has. The newest are in memory; of the others only a filter, which says whether the journal
 * has to be read.
 */
export class RecordedTurns {
  readonly #journal: JournalReader
  readonly #max: number
  readonly #newest = new Map<string, TurnRecord>()
  readonly #older = new IdFilter()
  /** The lookup that was started last. */
  #lookup: Promise<void> | undefined

  constructor(journal: JournalReader, { max = 2_000 }: { readonly max?: number } = {}) {
    this.#journal = journal
    this.#max = max
  }

  /** The number of turns in memory. */
  get size(): number {
    return this.#newest.size
  }

  /** The record of a turn, if it is in memory: call `load` first. */
  get(turn: string): TurnRecord | undefined {
    return this.#newest.get(turn)
  }

  set(turn: string, record: TurnRecord): void {
    // The last one that was set is the newest.
    this.#newest.delete(turn)
    this.#newest.set(turn, record)
    if (this.#newest.size <= this.#max) return
    const [oldest] = this.#newest.keys()
    if (oldest === undefined) return
    this.#newest.delete(oldest)
    this.#older.add(oldest)
  }

  /** Adds what an event says of its turn. */
  add(event: JournalEvent): void {
    const { turn } = event
    if (turn === undefined) return
    const known = this.#newest.get(turn)
    // The hash of its prompt is in an earlier event, so `load` has to read them all.
    if (known === undefined && event.data.promptHash === undefined && this.#older.mayHave(turn)) return
    const record = recordAfter(event, known)
    if (record !== undefined) this.set(turn, record)
  }

  /** Adds the turns of the journal. Returns the `prompt.queued` events of prompts that neither started nor were dropped. */
  async readAll(): Promise<readonly JournalEvent[]> {
    const queued = new Map<string, JournalEvent>()
    for await (const { events } of readPages(this.#journal, { types, limit: 1_000 }))
      for (const item of events) {
        if (!('seq' in item) || item.turn === undefined) continue
        this.add(item)
        if (item.type === 'prompt.queued') queued.set(item.turn, item)
        else queued.delete(item.turn)
      }
    return [...queued.values()]
  }

  /**
   * Reads a turn into memory; undefined if nothing has to be read, which is the rule. While another turn is read, calls
   * wait for each other, so that prompts keep their order.
   */
  load(turn: string): Promise<void> | undefined {
    if (this.#lookup === undefined && !this.#mustRead(turn)) return undefined
    const lookup = Promise.resolve(this.#lookup)
      .catch(() => undefined)
      .then(() => (this.#mustRead(turn) ? this.#read(turn) : undefined))
    this.#lookup = lookup
    const forget = () => {
      if (this.#lookup === lookup) this.#lookup = undefined
    }
    lookup.then(forget, forget)
    return lookup
  }

  #mustRead(turn: string): boolean {
    return !this.#newest.has(turn) && this.#older.mayHave(turn)
  }

  async #read(turn: string): Promise<void> {
    let record: TurnRecord | undefined
    for await (const { events } of readPages(this.#journal, { types, text: turn, limit: 1_000 }))
      for (const item of events)
        if ('seq' in item && item.turn === turn) record = recordAfter(item, record) ?? record
    if (record !== undefined) this.set(turn, record)
  }
}
