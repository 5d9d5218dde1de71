import {
  type EventFilter,
  type JournalItem,
  type Page,
  type ReadOptions,
  type TailOptions,
  VitrineError,
} from '@vitrine/protocol'
import { checkOptions, journalOptions } from '@vitrine/protocol/options'
import type { TimeSlice } from '@vitrine/protocol/primitives'
import type { Hole, StoreConnection } from '../stores/contract.ts'
import { entryMatcher } from '../stores/entry-matcher.ts'
import { EncodedEvent, type TailEncodedOptions } from './encoded-event.ts'
import { seqAtTime } from './locate.ts'
import type { ReadScope } from './read-scope.ts'
import { readingSlice } from './reading-slice.ts'
import type { RecentEvents } from './recent-events.ts'
import { keyOf, type ScannedItem, scan, toItem } from './scan.ts'
import { Tail } from './tail.ts'

const pageItems = 1_000
/** Items that are decoded between two looks at the clock. */
const itemsPerCheck = 4

/** A page whose events are JSON strings. */
export interface EncodedPage extends Omit<Page, 'events'> {
  readonly events: readonly string[]
}

/** Why there is nothing more to read, once that is so. */
interface ReaderEnd {
  closed(): Error | undefined
  /** No more events follow those that are readable. */
  complete(): Error | undefined
}

/**
 * Reads pages; tails and sinks use it too. A key is the position of an event: its `seq` in one journal, or its commit
 * position in the whole store. A hole is a range of trimmed events; a reader gets it as a gap.
 */
export class Reader {
  readonly #connection: StoreConnection
  readonly #recent: RecentEvents
  readonly #end: ReaderEnd

  constructor(connection: StoreConnection, recent: RecentEvents, end: ReaderEnd) {
    this.#connection = connection
    this.#recent = recent
    this.#end = end
  }

  /** Throws once the store is closed. */
  assertOpen(): void {
    const closed = this.#end.closed()
    if (closed) throw closed
  }

  async page(scope: ReadScope, options?: ReadOptions): Promise<Page> {
    checkOptions('read', journalOptions.read, options)
    const slice = readingSlice()
    const { found, ...page } = await this.#page(scope, options, slice)
    const cursorOf = this.#holeCursor(scope)
    return { events: await mapInSlices(found, slice, (item) => toItem(item, cursorOf)), ...page }
  }

  /** A page with each event as its stored JSON. */
  async encodedPage(scope: ReadScope, options?: ReadOptions): Promise<EncodedPage> {
    checkOptions('readEncoded', journalOptions.read, options)
    const slice = readingSlice()
    const { found, ...page } = await this.#page(scope, options, slice)
    const cursorOf = this.#holeCursor(scope)
    const textOf = (item: ScannedItem) =>
      'body' in item ? item.text : JSON.stringify(toItem(item, cursorOf))
    return { events: await mapInSlices(found, slice, textOf), ...page }
  }

  async #page(
    scope: ReadScope,
    options: ReadOptions = {},
    slice: TimeSlice,
  ): Promise<{ readonly found: readonly ScannedItem[]; readonly cursor: string; readonly end: boolean }> {
    this.assertOpen()
    const { order = 'asc', limit = pageItems, signal, ...filter } = options
    const newest = await scope.end()
    const [low, high] = await this.#bounds(scope, options, newest)
    const range = order === 'asc' ? { from: low, to: high } : { from: high + 1, to: low + 1 }
    const { found, scanned, end } = await scan(this.#connection, {
      journal: scope.journal,
      ...range,
      order,
      limit,
      filter: eventFilter(filter),
      slice,
      signal,
    })
    return { found, cursor: scope.cursor(Math.min(scanned, newest)), end }
  }

  /** The range of keys that `after`, `before` and `at` select: exclusive lower bound, inclusive upper bound. */
  async #bounds(
    scope: ReadScope,
    { after, before, at, order }: ReadOptions,
    newest: number,
  ): Promise<[number, number]> {
    let low = after === undefined ? 0 : await scope.key(after)
    let high = before === undefined ? newest : Math.min(newest, (await scope.key(before)) - 1)
    if (at !== undefined) {
      const key = await this.#keyAt(scope, at, newest)
      if (order === 'desc') high = Math.min(high, key)
      else low = Math.max(low, key - 1)
    }
    return [Math.min(low, newest), Math.max(high, 0)]
  }

  async #keyAt(scope: ReadScope, at: number | Date, newest: number): Promise<number> {
    if (typeof at === 'number') return at
    if (scope.journal === null)
      throw new VitrineError(
        'unsupported',
        'at: expected a seq, got a time, which is supported for one journal only, not for the whole store.',
      )
    return seqAtTime(this.#connection, scope.journal, newest, at.getTime())
  }

  /** Follows the scope from a cursor, from its beginning, or from now. */
  tail(scope: ReadScope, options: TailOptions = {}): Tail<JournalItem> {
    checkOptions('tail', journalOptions.tail, options)
    const cursorOf = this.#holeCursor(scope)
    return this.#follow(scope, options, (found) => toItem(found, cursorOf))
  }

  /** A tail that yields items with their cursor and stored bytes, a page at a time, for a server to forward. */
  tailEncoded(scope: ReadScope, given: TailEncodedOptions = {}): Tail<EncodedEvent> {
    checkOptions('tailEncoded', journalOptions.tailEncoded, given)
    const { page: limit = pageItems, ...options } = given
    const toEncodedEvent = (found: ScannedItem) =>
      'body' in found ? this.#recent.encoded(found, scope) : new EncodedEvent(found, scope)
    return this.#follow(scope, options, toEncodedEvent, limit)
  }

  #follow<Item>(
    scope: ReadScope,
    { after, signal, ...filter }: TailOptions,
    toItem: (found: ScannedItem) => Item,
    limit = pageItems,
  ): Tail<Item> {
    const wantedEvents = eventFilter(filter)
    const matches = entryMatcher(wantedEvents)
    const source = {
      scope,
      toItem,
      pull: (key: number, until: AbortSignal) => this.#pull(scope, key, wantedEvents, matches, limit, until),
      ...this.#end,
    }
    return new Tail(source, startKey(scope, after), signal)
  }

  /** One page after a key, from memory if the events are still there. */
  async after(
    scope: ReadScope,
    key: number,
    filter: EventFilter,
    limit: number,
    signal?: AbortSignal,
  ): Promise<{ found: readonly ScannedItem[]; scanned: number }> {
    return this.#pull(scope, key, filter, entryMatcher(filter), limit, signal)
  }

  async #pull(
    scope: ReadScope,
    key: number,
    filter: EventFilter,
    matches: ReturnType<typeof entryMatcher>,
    limit: number,
    signal?: AbortSignal,
  ): Promise<{ found: readonly ScannedItem[]; scanned: number }> {
    this.assertOpen()
    const recent = this.#recent.after(scope.journal, key, limit)
    if (recent !== undefined && recent.length > 0) {
      return { found: matches ? recent.filter(matches) : recent, scanned: key + recent.length }
    }
    // The store may also have a hole after these events, which memory does not have: at the end of a journal that was
    // copied from another store.
    const newest = await scope.end()
    if (key >= newest) return { found: [], scanned: key }
    const { found, scanned } = await scan(this.#connection, {
      journal: scope.journal,
      from: key,
      to: newest,
      order: 'asc',
      limit,
      filter,
      slice: readingSlice(),
      signal,
    })
    return { found, scanned }
  }

  #holeCursor(scope: ReadScope): (hole: Hole) => string {
    return (hole) => scope.cursor(keyOf(hole, scope.journal))
  }
}

async function mapInSlices<Item>(
  found: readonly ScannedItem[],
  slice: TimeSlice,
  map: (item: ScannedItem) => Item,
): Promise<Item[]> {
  const items: Item[] = []
  for (const item of found) {
    if (items.length % itemsPerCheck === 0 && slice.expired) await slice.yieldToEventLoop()
    items.push(map(item))
  }
  return items
}

function startKey(scope: ReadScope, after: string | undefined): number | (() => Promise<number>) {
  if (after === undefined) return 0
  if (after === 'now') return () => scope.end()
  return () => scope.key(after)
}

/** The fields of a filter that are set, without other options. */
export function eventFilter({ types, session, run, text }: EventFilter): EventFilter {
  return {
    ...(types !== undefined && { types }),
    ...(session !== undefined && { session }),
    ...(run !== undefined && { run }),
    ...(text !== undefined && text !== '' && { text }),
  }
}
