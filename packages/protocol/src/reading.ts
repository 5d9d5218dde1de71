import type { JournalItem } from './events/envelope.ts'
import type { MatchedItem } from './events/match.ts'

/** Selects events; an absent field matches all. */
export interface EventFilter<Pattern extends string = string> {
  /** Exact types or families: `['file.*', 'turn.finished']`. The events that are read have these types. */
  readonly types?: readonly Pattern[]
  readonly session?: string
  /** The caller's id of the work that events belong to, which may span several turns. */
  readonly run?: string
  /** Matches anywhere in the event's JSON, ignoring the case of ASCII letters. */
  readonly text?: string
}

/** Selects journals of a host, for reads over all of them; absent means every journal. */
export interface JournalFilter {
  /** Ids of at most 100 journals. An unknown one is an error. */
  readonly journals?: readonly string[]
}

export interface ReadOptions<Pattern extends string = string> extends EventFilter<Pattern> {
  /** Only events after this cursor. */
  readonly after?: string
  /** Only events before this cursor. */
  readonly before?: string
  /** Start at this `seq`, or at the first event at or after this time. */
  readonly at?: number | Date
  /** `asc` from the oldest (default), or `desc` from the newest. */
  readonly order?: 'asc' | 'desc'
  /** Maximum number of items: 1 to 10,000, default 1,000. */
  readonly limit?: number
  readonly signal?: AbortSignal
}

export interface Page<Pattern extends string = string> {
  readonly events: readonly MatchedItem<Pattern>[]
  /** The position up to which events were scanned, whether they matched or not. */
  readonly cursor: string
  /** Whether there are no more events in this direction at the moment. */
  readonly end: boolean
}

export interface TailOptions<Pattern extends string = string> extends EventFilter<Pattern> {
  /** Start after this cursor, by default at the beginning; `'now'` for new events only. */
  readonly after?: string
  readonly signal?: AbortSignal
}

export interface SummaryOptions extends EventFilter {
  /** Number of equal time slices: 1 to 10,000, default 60. */
  readonly buckets?: number
  readonly signal?: AbortSignal
}

export interface SummaryBucket {
  readonly from: string
  readonly to: string
  /** The first and last `seq` counted in this slice, in a summary of one journal. */
  readonly seqs?: readonly [number, number]
  /** Number of events by exact type. */
  readonly counts: Readonly<Record<string, number>>
}

export interface Summary {
  readonly buckets: readonly SummaryBucket[]
  readonly total: number
  readonly counts: Readonly<Record<string, number>>
}

export interface ByteRange {
  /** The first byte; default 0. */
  readonly from?: number
  /** The byte to stop before; default the end. */
  readonly to?: number
}

/** Read access to one journal, wherever it is. */
export interface JournalReader {
  readonly id: string
  read<const Pattern extends string = string>(options?: ReadOptions<Pattern>): Promise<Page<Pattern>>
  /** Past events, then new ones, without gap or duplicate, until the signal aborts. */
  tail<const Pattern extends string = string>(
    options?: TailOptions<Pattern>,
  ): AsyncIterableIterator<MatchedItem<Pattern>>
  summary(options?: SummaryOptions): Promise<Summary>
  /** The cursor of an item of this journal: reading `after` it continues with the next item. */
  cursor(item: JournalItem): string
  /** The bytes of a blob that an event refers to, or a range of them. */
  blob(hash: string, range?: ByteRange): Promise<ReadableStream<Uint8Array>>
}

/** A reference to a stored blob. */
export interface BlobRef {
  readonly blob: string
  readonly bytes: number
  readonly mediaType?: string
  /** The redactor changed the bytes before they were hashed. */
  readonly redacted?: true
}
