import {
  type EventFilter,
  type JournalFilter,
  type JournalItem,
  type Page,
  type ReadOptions,
  type Summary,
  type SummaryOptions,
  type TailOptions,
  VitrineError,
} from '@vitrine/protocol'
import { checkOptions, journalOptions } from '@vitrine/protocol/options'
import { shown, type TimeSlice } from '@vitrine/protocol/primitives'
import type { Hole, StoreConnection } from '../stores/contract.ts'
import { entryMatcher } from '../stores/entry-matcher.ts'
import { EncodedEvent, type TailEncodedOptions } from './encoded-event.ts'
import { positionAtTime, seqAtTime } from './locate.ts'
import type { ReadScope } from './read-scope.ts'
import { readingSlice } from './reading-slice.ts'
import type { RecentEvents } from './recent-events.ts'
import { keyOf, type ScanFilter, type ScannedItem, scan, toItem } from './scan.ts'
import { ScanWindow } from './scan-window.ts'
import { summarize } from './summary.ts'
import { Tail } from './tail.ts'

const pageItems = 1_000
/** Items that are decoded between two looks at the clock. */
const itemsPerCheck = 4

/** A page whose events are JSON strings. */
export interface EncodedPage extends Omit<Page, 'events'> {
  readonly events: readonly string[]
}

/** Options of a read of one journal; `journals` is for reads of the whole store. */
type InScope<Options> = Options & JournalFilter

/** The events that a reader wants, page after page. */
interface PageSelection {
  readonly filter: ScanFilter
  readonly matches: ReturnType<typeof entryMatcher>
  readonly window: ScanWindow | undefined
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

  async page(scope: ReadScope, options?: InScope<ReadOptions>): Promise<Page> {
    checkOptions('read', scope.journal === null ? journalOptions.readAll : journalOptions.read, options)
    const slice = readingSlice()
    const { found, ...page } = await this.#page(scope, options, slice)
    const cursorOf = this.#holeCursor(scope)
    return { events: await mapInSlices(found, slice, (item) => toItem(item, cursorOf)), ...page }
  }

  /** A page with each event as its stored JSON. */
  async encodedPage(scope: ReadScope, options?: InScope<ReadOptions>): Promise<EncodedPage> {
    checkOptions(
      'readEncoded',
      scope.journal === null ? journalOptions.readAll : journalOptions.read,
      options,
    )
    const slice = readingSlice()
    const { found, ...page } = await this.#page(scope, options, slice)
    const cursorOf = this.#holeCursor(scope)
    const textOf = (item: ScannedItem) =>
      'body' in item ? item.text : JSON.stringify(toItem(item, cursorOf))
    return { events: await mapInSlices(found, slice, textOf), ...page }
  }

  async #page(
    scope: ReadScope,
    options: InScope<ReadOptions> = {},
    slice: TimeSlice,
  ): Promise<{ readonly found: readonly ScannedItem[]; readonly cursor: string; readonly end: boolean }> {
    this.assertOpen()
    const { order = 'asc', limit = pageItems, signal, ...filter } = options
    const newest = await scope.end()
    await this.#assertKnown(options.journals)
    const [low, high] = await this.#bounds(scope, options, newest, slice)
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
    { after, before, at, order, journals }: InScope<ReadOptions>,
    newest: number,
    slice: TimeSlice,
  ): Promise<[number, number]> {
    let low = after === undefined ? 0 : await scope.key(after)
    let high = before === undefined ? newest : Math.min(newest, (await scope.key(before)) - 1)
    if (at !== undefined) {
      const key = typeof at === 'number' ? at : await this.#keyAt(scope, at, newest, journals, slice)
      if (order === 'desc') high = Math.min(high, key)
      else low = Math.max(low, key - 1)
    }
    return [Math.min(low, newest), Math.max(high, 0)]
  }

  /** The key of the first item at or after a time. */
  async #keyAt(
    { journal }: ReadScope,
    at: Date,
    newest: number,
    journals: readonly string[] | undefined,
    slice: TimeSlice,
  ): Promise<number> {
    const connection = this.#connection
    if (journal !== null) return seqAtTime(connection, journal, newest, at.getTime())
    return positionAtTime(connection, journals ?? (await connection.journals()), newest, at.getTime(), slice)
  }

  /** Counts the events of the scope by type and time. */
  async summary(scope: ReadScope, options: InScope<SummaryOptions> = {}): Promise<Summary> {
    checkOptions(
      'summary',
      scope.journal === null ? journalOptions.summaryAll : journalOptions.summary,
      options,
    )
    this.assertOpen()
    const { buckets = 60, signal, ...filter } = options
    await this.#assertKnown(filter.journals)
    const { journal } = scope
    const newest = await scope.end()
    return summarize(this.#connection, { journal, newest, buckets, filter: eventFilter(filter), signal })
  }

  /** Throws for a journal that does not exist: a filter with a wrong id would match nothing, in silence. */
  async #assertKnown(journals: readonly string[] | undefined): Promise<void> {
    for (const id of new Set(journals))
      if ((await this.#connection.head(id)) === undefined)
        throw new VitrineError('not_found', `journals: there is no journal ${shown(id)}.`, {
          details: { journal: id },
        })
  }

  /** Follows the scope from a cursor, from its beginning, or from now. */
  tail(scope: ReadScope, options: InScope<TailOptions> = {}): Tail<JournalItem> {
    checkOptions('tail', scope.journal === null ? journalOptions.tailAll : journalOptions.tail, options)
    const cursorOf = this.#holeCursor(scope)
    return this.follow(scope, this.#startOf(scope, options), options, (found) => toItem(found, cursorOf))
  }

  /** A tail that yields items with their cursor and stored bytes, a page at a time, for a server to forward. */
  tailEncoded(scope: ReadScope, options: InScope<TailEncodedOptions> = {}): Tail<EncodedEvent> {
    checkOptions(
      'tailEncoded',
      scope.journal === null ? journalOptions.tailAllEncoded : journalOptions.tailEncoded,
      options,
    )
    const toEncodedEvent = (found: ScannedItem) =>
      'body' in found ? this.#recent.encoded(found, scope) : new EncodedEvent(found, scope)
    return this.follow(scope, this.#startOf(scope, options), options, toEncodedEvent)
  }

  #startOf(scope: ReadScope, { after, journals }: InScope<TailOptions>): number | (() => Promise<number>) {
    const start = startKey(scope, after)
    if (journals === undefined) return start
    return async () => {
      const key = typeof start === 'number' ? start : await start()
      await this.#assertKnown(journals)
      return key
    }
  }

  /** Follows the scope after a key. */
  follow<Item>(
    scope: ReadScope,
    start: number | (() => Promise<number>),
    { signal, page: limit = pageItems, ...filter }: InScope<TailEncodedOptions>,
    toItem: (found: ScannedItem) => Item,
  ): Tail<Item> {
    const wantedEvents = eventFilter(filter)
    const matches = entryMatcher(wantedEvents)
    const window = new ScanWindow(wantedEvents)
    const source = {
      scope,
      toItem,
      pull: (key: number, until: AbortSignal) =>
        this.#pull(scope, key, { filter: wantedEvents, matches, window }, limit, until),
      isInMemory: (key: number) => this.#recent.covers(scope.journal, key),
      ...this.#end,
    }
    return new Tail(source, start, signal)
  }

  /** One page after a key, from memory if the events are still there. */
  async after(
    scope: ReadScope,
    key: number,
    filter: EventFilter,
    limit: number,
    signal?: AbortSignal,
  ): Promise<{ found: readonly ScannedItem[]; scanned: number }> {
    return this.#pull(scope, key, { filter, matches: entryMatcher(filter), window: undefined }, limit, signal)
  }

  async #pull(
    scope: ReadScope,
    key: number,
    { filter, matches, window }: PageSelection,
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
      toNewest: true,
      order: 'asc',
      limit,
      filter,
      slice: readingSlice(),
      window,
      signal,
    })
    return { found, scanned }
  }

  #holeCursor(scope: ReadScope): (hole: Hole) => string {
    return (hole) => scope.cursor(keyOf(hole, scope.journal))
  }
}

/** Maps items, and lets others have their turn when the slice is used up. */
export async function mapInSlices<Item>(
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
export function eventFilter({ types, session, run, text, journals }: ScanFilter): ScanFilter {
  return {
    ...(types !== undefined && { types }),
    ...(session !== undefined && { session }),
    ...(run !== undefined && { run }),
    ...(text !== undefined && text !== '' && { text }),
    ...(journals !== undefined && { journals }),
  }
}
