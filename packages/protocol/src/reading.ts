import type { JournalItem } from './events/envelope.ts'

/** Which events a reader wants. Absent means all. */
export interface EventFilter {
  /** Exact types or families: `['file.*', 'turn.finished']`. */
  readonly types?: readonly string[]
  readonly session?: string
  readonly run?: string
  /** Found anywhere in the event's JSON, ASCII letters in either case. */
  readonly text?: string
}

export interface ReadOptions extends EventFilter {
  /** Only what comes after this cursor. */
  readonly after?: string
  /** Only what comes before this cursor. */
  readonly before?: string
  /** Start at this `seq`, or at the first event of this time. */
  readonly at?: number | Date
  /** `forwards` from the oldest (default), or `backwards` from the newest. */
  readonly order?: 'asc' | 'desc'
  /** How many items at most: 1 to 10,000, default 1,000. */
  readonly limit?: number
  readonly signal?: AbortSignal
}

export interface Page {
  readonly events: readonly JournalItem[]
  /** What was scanned up to here, whether it matched or not. */
  readonly cursor: string
  /** Nothing more lies in this direction now. */
  readonly end: boolean
}

export interface TailOptions extends EventFilter {
  /** Go on after this cursor; from the beginning without one; `'now'` for only what is to come. */
  readonly after?: string
  readonly signal?: AbortSignal
}

export interface SummaryOptions extends EventFilter {
  /** How many slices of equal time: 1 to 10,000, default 60. */
  readonly buckets?: number
  readonly signal?: AbortSignal
}

export interface SummaryBucket {
  readonly from: string
  readonly to: string
  /** The first and last `seq` counted in this slice. */
  readonly seqs?: readonly [number, number]
  /** By exact type. */
  readonly counts: Readonly<Record<string, number>>
}

export interface Summary {
  readonly buckets: readonly SummaryBucket[]
  readonly total: number
  readonly counts: Readonly<Record<string, number>>
}

/** Read access to one journal, wherever it is. */
export interface JournalReader {
  readonly id: string
  read(options?: ReadOptions): Promise<Page>
  /** History, then live: no gap, no duplicate. Ends with its signal. */
  tail(options?: TailOptions): AsyncIterableIterator<JournalItem>
  summary(options?: SummaryOptions): Promise<Summary>
}

/** A stored blob, as events refer to it. */
export interface BlobRef {
  readonly blob: string
  readonly bytes: number
  readonly mediaType?: string
  /** The redactor changed it before it was hashed. */
  readonly redacted?: true
}
