import type { Journal } from '@vitrine/journal'
import {
  type EventInput,
  type JournalItem,
  type JsonObject,
  readPages,
  VitrineError,
} from '@vitrine/protocol'
import { Serial } from '@vitrine/protocol/primitives'

/** The types of events that `record` takes. */
export const recordable = ['run.*', 'loop.*', 'log.*', 'limit.reached']

/** Stands in the data of each event that was recorded under an id. */
interface RecordedAs {
  readonly id: string
  /** Of the events as they were given: the recorded ones may be masked or cut. */
  readonly hash: string
}

/** Records events under an id once, however often they are given, also to a later host. */
export class RecordedBatches {
  readonly #journal: Journal
  readonly #keyedHash: (text: string) => string
  readonly #max: number
  /** The newest hashes by id. */
  readonly #newest = new Map<string, string>()
  #hasOlder = false
  #loaded: Promise<void> | undefined
  readonly #serial = new Serial()

  constructor(journal: Journal, keyedHash: (text: string) => string, { max = 10_000 } = {}) {
    this.#journal = journal
    this.#keyedHash = keyedHash
    this.#max = max
  }

  /** Appends the events with `journal`, unless those of this id are on record. */
  append(journal: Pick<Journal, 'append'>, id: string, events: readonly EventInput[]): Promise<void> {
    const hash = this.#keyedHash(JSON.stringify([id, events]))
    return this.#serial.run(async () => {
      const known = await this.#find(id)
      if (known !== undefined && !isSame(known, hash))
        throw new VitrineError('record_exists', `record: the id ${id} was used for other events.`)
      if (known !== undefined) return
      const recordedAs: RecordedAs = { id, hash }
      await journal.append(events.map((event) => ({ ...event, data: { ...event.data, recordedAs } })))
      this.#set(id, hash)
    })
  }

  async #find(id: string): Promise<string | undefined> {
    this.#loaded ??= this.#load({})
    await this.#loaded.catch((error: unknown) => {
      this.#loaded = undefined
      throw error
    })
    if (!this.#newest.has(id) && this.#hasOlder) await this.#load({ text: id })
    return this.#newest.get(id)
  }

  async #load(filter: { readonly text?: string }): Promise<void> {
    for await (const { events } of readPages(this.#journal, { types: recordable, limit: 1_000, ...filter }))
      for (const item of events) {
        const batch = batchOf(item)
        if (batch !== undefined) this.#set(batch.id, batch.hash)
      }
  }

  #set(id: string, hash: string): void {
    this.#newest.delete(id)
    this.#newest.set(id, hash)
    if (this.#newest.size <= this.#max) return
    this.#newest.delete(this.#newest.keys().next().value ?? '')
    this.#hasOlder = true
  }
}

function batchOf(item: JournalItem): RecordedAs | undefined {
  const { recordedAs } = item.data as JsonObject
  if (typeof recordedAs !== 'object' || recordedAs === null || !('id' in recordedAs)) return undefined
  const { id, hash } = recordedAs
  return typeof id === 'string' && typeof hash === 'string' ? { id, hash } : undefined
}

/** Also true if they cannot be compared, because the key of the recorded one is lost. */
function isSame(recorded: string, given: string): boolean {
  const keyOf = (hash: string) => hash.slice(0, hash.indexOf(':'))
  return recorded === given || keyOf(recorded) !== keyOf(given)
}
