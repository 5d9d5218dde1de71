import { isGap, type JournalEvent } from '@vitrine/protocol'
import { requireWholeNumber } from '@vitrine/protocol/primitives'
import { type CopyOnWrite, copyOnWrite } from './copy-on-write.ts'
import { millisecondsOf } from './moment.ts'
import { entryOf, type Table, withEntry } from './table.ts'
import type { View } from './view.ts'

/** The number of events in one time slice. */
export interface TimelineBucket {
  /** Milliseconds since 1970, a multiple of the timeline's `bucketMs`. */
  readonly fromMs: number
  /** The lowest and highest `seq` counted here. */
  readonly seqs: readonly [number, number]
  /** Number of events by family: `file`, `process`, `turn`, … */
  readonly counts: Table<number>
}

/** Time slices in order; slices without events are omitted. */
export interface Timeline {
  readonly bucketMs: number
  readonly buckets: readonly TimelineBucket[]
  /** Number of counted events. */
  readonly total: number
  /** Number of events with an invalid time, which are in no bucket. */
  readonly untimed: number
  /** False once a gap hid events. */
  readonly complete: boolean
}

export interface TimelineOptions {
  /** Initial length of a slice, default 1,000. It doubles when there are more than `maxBuckets`. */
  readonly bucketMs?: number
  /** Maximum number of slices: 2 or more, default 240. */
  readonly maxBuckets?: number
}

/**
 * The number of events over time, by family of event types.
 *
 * @example
 * const { buckets } = rebuild(timelineView({ bucketMs: 1000 }), events)
 * buckets[0]?.counts // { operation: 2, process: 5 }
 */
export function timelineView(options: TimelineOptions = {}): View<Timeline> {
  const bucketMs = requireWholeNumber('bucketMs', options.bucketMs ?? 1000, 1)
  // At least two: no bucket length spans both sides of 1970, so one would never be enough.
  const maxBuckets = requireWholeNumber('maxBuckets', options.maxBuckets ?? 240, 2)
  return {
    empty: { bucketMs, buckets: [], total: 0, untimed: 0, complete: true },
    add(state, events) {
      const copy = copyOnWrite()
      let timeline = state
      for (const item of events) {
        if (isGap(item)) {
          if (timeline.complete) timeline = { ...timeline, complete: false }
          continue
        }
        timeline = withCounted(copy, timeline, item)
        while (timeline.buckets.length > maxBuckets) timeline = coarser(timeline)
      }
      return timeline
    },
  }
}

function withCounted(copy: CopyOnWrite, timeline: Timeline, event: JournalEvent): Timeline {
  const time = millisecondsOf(event.time)
  const next = copy(timeline)
  if (time === undefined) {
    next.untimed += 1
    return next
  }
  const fromMs = startOf(time, timeline.bucketMs)
  const buckets = copy(timeline.buckets)
  const index = bucketIndex(buckets, fromMs)
  const found = buckets[index]
  if (found?.fromMs === fromMs) {
    buckets[index] = withEvent(copy, found, event)
  } else {
    const { seq } = event
    buckets.splice(index, 0, { fromMs, seqs: [seq, seq], counts: { [familyOf(event.type)]: 1 } })
  }
  next.buckets = buckets
  next.total += 1
  return next
}

function withEvent(copy: CopyOnWrite, bucket: TimelineBucket, { seq, type }: JournalEvent): TimelineBucket {
  const family = familyOf(type)
  const next = copy(bucket)
  next.counts = withEntry(copy, bucket.counts, family, (entryOf(bucket.counts, family) ?? 0) + 1)
  next.seqs = widened(bucket.seqs, [seq, seq])
  return next
}

/** Merges the buckets into slices of twice the length. */
function coarser(timeline: Timeline): Timeline {
  const bucketMs = timeline.bucketMs * 2
  const copy = copyOnWrite()
  const buckets: TimelineBucket[] = []
  for (const bucket of timeline.buckets) {
    const fromMs = startOf(bucket.fromMs, bucketMs)
    const last = buckets.at(-1)
    if (last?.fromMs === fromMs) buckets[buckets.length - 1] = merged(copy, last, bucket)
    else buckets.push({ ...bucket, fromMs })
  }
  return { ...timeline, bucketMs, buckets }
}

function merged(copy: CopyOnWrite, into: TimelineBucket, from: TimelineBucket): TimelineBucket {
  let counts = into.counts
  for (const [family, count] of Object.entries(from.counts)) {
    counts = withEntry(copy, counts, family, (entryOf(counts, family) ?? 0) + count)
  }
  return { fromMs: into.fromMs, seqs: widened(into.seqs, from.seqs), counts }
}

function widened(a: readonly [number, number], b: readonly [number, number]): readonly [number, number] {
  return [Math.min(a[0], b[0]), Math.max(a[1], b[1])]
}

function startOf(time: number, bucketMs: number): number {
  return Math.floor(time / bucketMs) * bucketMs
}

/** The index of the bucket, or where to insert it. Searches from the end, since events are almost always in order. */
function bucketIndex(buckets: readonly TimelineBucket[], fromMs: number): number {
  let index = buckets.length
  while (index > 0 && (buckets[index - 1]?.fromMs ?? 0) >= fromMs) index -= 1
  return index
}

function familyOf(type: string): string {
  return type.split('.', 1)[0] ?? type
}
