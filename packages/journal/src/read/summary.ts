import type { EventFilter, Summary, SummaryBucket } from '@vitrine/protocol'
import type { StoreConnection } from '../stores/contract.ts'
import { readingSlice } from './reading-slice.ts'
import { ScanWindow } from './scan-window.ts'

/** Counts a journal's events by type in intervals of equal length. */
export async function summarize(
  connection: StoreConnection,
  journal: string,
  headSeq: number,
  buckets: number,
  filter: EventFilter,
  signal?: AbortSignal,
): Promise<Summary> {
  const edge = async (order: 'asc' | 'desc') => {
    const range = order === 'asc' ? { from: 0, to: headSeq } : { from: headSeq + 1, to: 1 }
    const [entry] = await connection.index({ journal, ...range, order, limit: 1 })
    return entry?.time
  }
  const start = await edge('asc')
  const end = await edge('desc')
  if (start === undefined || end === undefined) return { buckets: [], total: 0, counts: {} }
  const width = Math.max(1, Math.ceil((end - start + 1) / buckets))
  const slices = Array.from({ length: Math.ceil((end - start + 1) / width) }, () => new Slice())
  const all = new Slice()
  const slice = readingSlice()
  const window = new ScanWindow(filter)
  for (let from = 0; from < headSeq; ) {
    if (slice.expired) await slice.yieldToEventLoop()
    signal?.throwIfAborted()
    const { keys } = window
    const to = Math.min(from + keys, headSeq)
    const range = { ...filter, journal, from, to, order: 'asc', limit: keys } as const
    const entries = await window.timed(() => connection.index(range))
    for (const { time, type, seq } of entries) {
      all.count(type, seq)
      slices[Math.min(Math.floor((time - start) / width), slices.length - 1)]?.count(type, seq)
    }
    from = to
  }
  return {
    buckets: slices.map((slice, index) => slice.bucket(start + index * width, start + (index + 1) * width)),
    total: all.total,
    counts: all.counts,
  }
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

  bucket(from: number, to: number): SummaryBucket {
    return {
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      ...(this.total > 0 && { seqs: [this.#first, this.#last] as const }),
      counts: this.counts,
    }
  }
}
