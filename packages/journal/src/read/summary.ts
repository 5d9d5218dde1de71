import type { Summary } from '@vitrine/protocol'
import type { TimeSlice } from '@vitrine/protocol/primitives'
import type { StoreConnection } from '../stores/contract.ts'
import { readingSlice } from './reading-slice.ts'
import type { ScanFilter } from './scan.ts'
import { ScanWindow } from './scan-window.ts'

export interface SummaryRequest {
  /** One journal by `seq`, or with null the whole store by commit position. */
  readonly journal: string | null
  /** The newest `seq` or commit position. */
  readonly newest: number
  readonly buckets: number
  readonly filter: ScanFilter
  readonly signal?: AbortSignal | undefined
}

/** Counts events by type in intervals of equal length, from the first to the last event of the journals. */
export async function summarize(
  connection: StoreConnection,
  { journal, newest, buckets, filter, signal }: SummaryRequest,
): Promise<Summary> {
  const slice = readingSlice()
  const journals = journal === null ? (filter.journals ?? (await connection.journals())) : [journal]
  const lastSeq = journal === null ? Number.MAX_SAFE_INTEGER - 1 : newest
  const times = await timesOf(connection, journals, lastSeq, slice)
  if (times === undefined) return { buckets: [], total: 0, counts: {} }
  const { start, end } = times
  const width = Math.max(1, Math.ceil((end - start + 1) / buckets))
  const slices = Array.from({ length: Math.ceil((end - start + 1) / width) }, () => new Slice())
  const all = new Slice()
  const window = new ScanWindow(filter)
  for (let from = 0; from < newest; ) {
    if (slice.expired) await slice.yieldToEventLoop()
    signal?.throwIfAborted()
    const { keys } = window
    const to = Math.min(from + keys, newest)
    const range = { ...filter, journal, from, to, order: 'asc', limit: keys } as const
    const entries = await window.timed(() => connection.index(range))
    for (const { time, type, seq } of entries) {
      all.count(type, seq)
      const index = Math.floor((time - start) / width)
      slices[Math.max(0, Math.min(index, slices.length - 1))]?.count(type, seq)
    }
    from = to
  }
  return {
    buckets: slices.map(({ counts, seqs }, index) => ({
      from: new Date(start + index * width).toISOString(),
      to: new Date(start + (index + 1) * width).toISOString(),
      // The `seq`s of several journals do not compare.
      ...(journal !== null && seqs && { seqs }),
      counts,
    })),
    total: all.total,
    counts: all.counts,
  }
}

/** The times of the oldest and the newest event of these journals. */
async function timesOf(
  connection: StoreConnection,
  journals: readonly string[],
  lastSeq: number,
  slice: TimeSlice,
): Promise<{ readonly start: number; readonly end: number } | undefined> {
  let start = Number.POSITIVE_INFINITY
  let end = Number.NEGATIVE_INFINITY
  for (const journal of journals) {
    if (slice.expired) await slice.yieldToEventLoop()
    const [first] = await connection.index({ journal, from: 0, to: lastSeq, order: 'asc', limit: 1 })
    const [last] = await connection.index({ journal, from: lastSeq + 1, to: 1, order: 'desc', limit: 1 })
    start = Math.min(start, first?.time ?? start)
    end = Math.max(end, last?.time ?? end)
  }
  return start <= end ? { start, end } : undefined
}

class Slice {
  readonly counts: Record<string, number> = {}
  total = 0
  #first = 0
  #last = 0

  count(type: string, seq: number): void {
    this.counts[type] = (this.counts[type] ?? 0) + 1
    this.total += 1
    this.#first ||= seq
    this.#last = seq
  }

  /** The first and last `seq` counted. */
  get seqs(): readonly [number, number] | undefined {
    return this.total > 0 ? [this.#first, this.#last] : undefined
  }
}
