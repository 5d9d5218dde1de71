import {
  type EventFilter,
  type JournalItem,
  type Page,
  type ReadOptions,
  type TailOptions,
  VitrineError,
} from '@vitrine/protocol'
import { checkOptions, journalOptions } from '@vitrine/protocol/options'
import type { RecentEvents } from '../recent-events.ts'
import type { Hole, JournalHead, StoreConnection } from '../stores/contract.ts'
import type { Wakeup } from '../wakeup.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { EncodedEvent, type TailEncodedOptions } from './encoded-event.ts'
import { entryMatcher } from './filter.ts'
import { seqAtTime } from './locate.ts'
import { keyOf, type ScannedItem, scan, toItem } from './scan.ts'
import { Tail } from './tail.ts'

const pageItems = 1_000

/** What is read: one journal by `seq`, or the whole store by commit position. */
export interface ReadScope {
  /** Null for the whole store. */
  readonly journal: string | null
  readonly wakeup: Wakeup
  /** The newest key. */
  end(): Promise<number>
  cursor(key: number): string
  /** The key in a cursor of this subject, and of no other. */
  key(cursor: string): Promise<number>
}

/** A page whose events are JSON already. */
export interface EncodedPage extends Omit<Page, 'events'> {
  readonly events: readonly string[]
}

/** Reads for everyone: pages, tails and sinks go through here. */
export class Reader {
  readonly #connection: StoreConnection
  readonly #recent: RecentEvents
  readonly #ended: () => Error | undefined

  constructor(connection: StoreConnection, recent: RecentEvents, ended: () => Error | undefined) {
    this.#connection = connection
    this.#recent = recent
    this.#ended = ended
  }

  /** Once a store has ended, nothing is read from it. */
  mustBeOpen(): void {
    const ended = this.#ended()
    if (ended) throw ended
  }

  async page(subject: ReadScope, options?: ReadOptions): Promise<Page> {
    checkOptions('read', journalOptions.read, options)
    const { found, ...place } = await this.#page(subject, options)
    const cursorOf = this.#holeCursor(subject)
    return { events: found.map((one) => toItem(one, cursorOf)), ...place }
  }

  /** The same as it is stored. */
  async encodedPage(subject: ReadScope, options?: ReadOptions): Promise<EncodedPage> {
    checkOptions('readEncoded', journalOptions.read, options)
    const { found, ...place } = await this.#page(subject, options)
    const cursorOf = this.#holeCursor(subject)
    const textOf = (one: ScannedItem) => ('body' in one ? one.text : JSON.stringify(toItem(one, cursorOf)))
    return { events: found.map(textOf), ...place }
  }

  async #page(
    subject: ReadScope,
    options: ReadOptions = {},
  ): Promise<{ readonly found: readonly ScannedItem[]; readonly cursor: string; readonly end: boolean }> {
    this.mustBeOpen()
    const { order = 'asc', limit = pageItems, signal, ...filter } = options
    const newest = await subject.end()
    const [low, high] = await this.#bounds(subject, options, newest)
    const range = order === 'asc' ? { from: low, to: high } : { from: high + 1, to: low + 1 }
    const { found, scanned, end } = await scan(this.#connection, {
      journal: subject.journal,
      ...range,
      order,
      limit,
      filter: eventFilter(filter),
      signal,
    })
    return { found, cursor: subject.cursor(Math.min(scanned, newest)), end }
  }

  /** The keys that `after`, `before` and `at` leave: above the first, up to and with the second. */
  async #bounds(
    subject: ReadScope,
    { after, before, at, order }: ReadOptions,
    newest: number,
  ): Promise<[number, number]> {
    let low = after === undefined ? 0 : await subject.key(after)
    let high = before === undefined ? newest : Math.min(newest, (await subject.key(before)) - 1)
    if (at !== undefined) {
      const key = await this.#keyAt(subject, at, newest)
      if (order === 'desc') high = Math.min(high, key)
      else low = Math.max(low, key - 1)
    }
    return [Math.min(low, newest), Math.max(high, 0)]
  }

  async #keyAt(subject: ReadScope, at: number | Date, newest: number): Promise<number> {
    if (typeof at === 'number') return at
    if (subject.journal === null)
      throw new VitrineError('unsupported', 'at: a time can be looked up in one journal only.')
    return seqAtTime(this.#connection, subject.journal, newest, at.getTime())
  }

  /** Follows from a cursor, from the beginning, or from now. */
  tail(subject: ReadScope, options: TailOptions = {}): Tail<JournalItem> {
    checkOptions('tail', journalOptions.tail, options)
    const cursorOf = this.#holeCursor(subject)
    return this.#follow(subject, options, (found) => toItem(found, cursorOf))
  }

  /** The same with each item's cursor and stored bytes, a page at a time: what a server hands on. */
  tailEncoded(subject: ReadScope, given: TailEncodedOptions = {}): Tail<EncodedEvent> {
    checkOptions('tailEncoded', journalOptions.tailEncoded, given)
    const { page: limit = pageItems, ...options } = given
    const delivery = (found: ScannedItem) =>
      'body' in found ? this.#recent.encoded(found, subject) : new EncodedEvent(found, subject)
    return this.#follow(subject, options, delivery, limit)
  }

  #follow<Item>(
    subject: ReadScope,
    { after, signal, ...filter }: TailOptions,
    toItem: (found: ScannedItem) => Item,
    limit = pageItems,
  ): Tail<Item> {
    const wanted = eventFilter(filter)
    const matches = entryMatcher(wanted)
    const source = {
      subject,
      toItem,
      pull: (key: number, until: AbortSignal) => this.#pull(subject, key, wanted, matches, limit, until),
      ended: this.#ended,
    }
    return new Tail(source, startKey(subject, after), signal)
  }

  /** One page after a key, from memory where it is still there. */
  async after(
    subject: ReadScope,
    key: number,
    filter: EventFilter,
    limit: number,
    signal?: AbortSignal,
  ): Promise<{ found: readonly ScannedItem[]; scanned: number }> {
    return this.#pull(subject, key, filter, entryMatcher(filter), limit, signal)
  }

  async #pull(
    subject: ReadScope,
    key: number,
    filter: EventFilter,
    matches: ReturnType<typeof entryMatcher>,
    limit: number,
    signal?: AbortSignal,
  ): Promise<{ found: readonly ScannedItem[]; scanned: number }> {
    this.mustBeOpen()
    const recent = this.#recent.after(subject.journal, key, limit)
    // When memory has nothing new, the store may still have a hole that an import ended with.
    if (recent !== undefined && recent.length > 0) {
      return { found: matches ? recent.filter(matches) : recent, scanned: key + recent.length }
    }
    const newest = await subject.end()
    if (key >= newest) return { found: [], scanned: key }
    const { found, scanned } = await scan(this.#connection, {
      journal: subject.journal,
      from: key,
      to: newest,
      order: 'asc',
      limit,
      filter,
      signal,
    })
    return { found, scanned }
  }

  #holeCursor(subject: ReadScope): (hole: Hole) => string {
    return (hole) => subject.cursor(keyOf(hole, subject.journal))
  }
}

function startKey(subject: ReadScope, after: string | undefined): number | (() => Promise<number>) {
  if (after === undefined) return 0
  if (after === 'now') return () => subject.end()
  return () => subject.key(after)
}

/** A filter with nothing but what filters. */
export function eventFilter({ types, session, run, text }: EventFilter): EventFilter {
  return {
    ...(types !== undefined && { types }),
    ...(session !== undefined && { session }),
    ...(run !== undefined && { run }),
    ...(text !== undefined && text !== '' && { text }),
  }
}

/** One journal as something to read. */
export function journalSubject(id: string, wakeup: Wakeup, head: () => Promise<JournalHead>): ReadScope {
  let incarnation = ''
  const load = async () => {
    const known = await head()
    incarnation = known.incarnation
    return known
  }
  return {
    journal: id,
    wakeup,
    async end() {
      return (await load()).seq
    },
    cursor: (seq) => encodeCursor({ scope: 'journal', journal: id, incarnation, seq }),
    async key(cursor) {
      const place = decodeCursor(cursor)
      const { seq, incarnation: mine } = await load()
      const isMine =
        place.scope === 'journal' && place.journal === id && (place.incarnation === mine || place.seq === 0)
      if (!isMine) throw new VitrineError('cursor_foreign', `The cursor is not one of the journal ${id}.`)
      if (place.seq > seq) {
        throw new VitrineError(
          'cursor_ahead',
          `The cursor is at ${place.seq}, but the journal ${id} ends at ${seq}.`,
        )
      }
      return place.seq
    },
  }
}

/** A whole store as something to read. */
export function storeSubject(store: string, wakeup: Wakeup, lastPosition: () => Promise<number>): ReadScope {
  return {
    journal: null,
    wakeup,
    end: lastPosition,
    cursor: (position) => encodeCursor({ scope: 'store', store, position }),
    async key(cursor) {
      const place = decodeCursor(cursor)
      if (place.scope !== 'store' || place.store !== store) {
        throw new VitrineError('cursor_foreign', 'The cursor is not one of the whole store.')
      }
      const last = await lastPosition()
      if (place.position > last) {
        throw new VitrineError(
          'cursor_ahead',
          `The cursor is at ${place.position}, but the store ends at ${last}.`,
        )
      }
      return place.position
    },
  }
}
