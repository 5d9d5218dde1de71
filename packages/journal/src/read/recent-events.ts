import type { Entry } from '../entry.ts'
import { EncodedEvent } from './encoded-event.ts'
import type { ReadScope } from './read-scope.ts'

/** A bounded cache of the newest events, shared by all live readers; the oldest are dropped first. */
export class RecentEvents {
  readonly #all = new Deque()
  readonly #byJournal = new Map<string, Deque>()
  /** By position. The cursors of a journal and of the whole store differ, so an entry may have one of each. */
  readonly #encoded = {
    ofJournals: new Map<number, EncodedEvent>(),
    ofStore: new Map<number, EncodedEvent>(),
  }
  readonly #maxEntries: number
  readonly #maxBytes: number
  #bytes = 0

  constructor({ maxEntries = 2_048, maxBytes = 8 * 1024 * 1024 } = {}) {
    this.#maxEntries = maxEntries
    this.#maxBytes = maxBytes
  }

  add(entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.#all.push(entry)
      let journal = this.#byJournal.get(entry.journal)
      if (journal === undefined) {
        journal = new Deque()
        this.#byJournal.set(entry.journal, journal)
      }
      journal.push(entry)
      this.#bytes += entry.body.length
    }
    while (this.#all.size > this.#maxEntries || this.#bytes > this.#maxBytes) this.#dropOldest()
  }

  /** The entries after a `seq` (without a journal: a position), or undefined if some of them were dropped. */
  after(journal: string | null, key: number, limit: number): readonly Entry[] | undefined {
    const deque = journal === null ? this.#all : this.#byJournal.get(journal)
    const first = deque?.first
    if (deque === undefined || first === undefined) return undefined
    const keyOf = (entry: Entry) => (journal === null ? entry.position : entry.seq)
    const skip = key + 1 - keyOf(first)
    if (skip < 0) return undefined
    const found = deque.slice(skip, limit)
    // A mirrored journal has holes: only a run of consecutive keys is known to be complete.
    const last = found.at(-1)
    if (last === undefined) return keyOf(deque.last ?? first) <= key ? found : undefined
    return keyOf(last) === key + found.length ? found : undefined
  }

  /** Whether every event after a `seq` (without a journal: a position) is in memory, or there is none. */
  covers(journal: string | null, key: number): boolean {
    return this.after(journal, key, 1) !== undefined
  }

  /** The encoded event that all readers of a scope share. For an entry that was dropped, a new one each time. */
  encoded(entry: Entry, scope: ReadScope): EncodedEvent {
    const { ofJournals, ofStore } = this.#encoded
    const cache = scope.journal === null ? ofStore : ofJournals
    let encodedEvent = cache.get(entry.position)
    if (encodedEvent === undefined) {
      encodedEvent = new EncodedEvent(entry, scope)
      const { first } = this.#all
      if (first !== undefined && entry.position >= first.position) cache.set(entry.position, encodedEvent)
    }
    return encodedEvent
  }

  #dropOldest(): void {
    const entry = this.#all.shift()
    if (entry === undefined) return
    this.#encoded.ofJournals.delete(entry.position)
    this.#encoded.ofStore.delete(entry.position)
    this.#bytes -= entry.body.length
    const journal = this.#byJournal.get(entry.journal)
    journal?.shift()
    if (journal?.size === 0) this.#byJournal.delete(entry.journal)
  }
}

/** A queue with a moving head; the array is compacted when half of it is empty. */
class Deque {
  #items: (Entry | undefined)[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  get first(): Entry | undefined {
    return this.#items[this.#head]
  }

  get last(): Entry | undefined {
    return this.#items.at(-1)
  }

  push(entry: Entry): void {
    this.#items.push(entry)
  }

  shift(): Entry | undefined {
    const entry = this.#items[this.#head]
    if (entry === undefined) return undefined
    this.#items[this.#head] = undefined
    this.#head += 1
    if (this.#head > 1_024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return entry
  }

  slice(skip: number, limit: number): readonly Entry[] {
    const start = this.#head + skip
    return this.#items.slice(start, start + limit) as Entry[]
  }
}
