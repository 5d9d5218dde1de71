import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rebuild, timelineView } from '../src/index.ts'
import { anyItems } from './any-items.ts'
import { event, gap } from './journal-items.ts'
import { describeViewProperties } from './view-properties.ts'

const tenSeconds = Date.UTC(2026, 0, 2, 10, 15, 10)

describe('the timeline', () => {
  describeViewProperties(timelineView({ bucketMs: 1000, maxBuckets: 4 }))

  it('counts event families by time slice and omits empty slices', () => {
    const timeline = rebuild(timelineView({ bucketMs: 10_000 }), [
      event(10, 'file.created'),
      event(11, 'file.changed'),
      event(19, 'turn.finished'),
      event(40, 'newer'),
    ])
    expect(timeline).toEqual({
      bucketMs: 10_000,
      buckets: [
        { fromMs: tenSeconds, seqs: [10, 19], counts: { file: 2, turn: 1 } },
        { fromMs: tenSeconds + 30_000, seqs: [40, 40], counts: { newer: 1 } },
      ],
      total: 4,
      untimed: 0,
      complete: true,
    })
  })

  it('doubles the length of its slices when there are too many', () => {
    const events = Array.from({ length: 10 }, (_, index) => event(index + 10, 'log.message'))
    const timeline = rebuild(timelineView({ bucketMs: 1000, maxBuckets: 3 }), events)
    expect(timeline.bucketMs).toBe(4000)
    expect(timeline.buckets.map(({ counts }) => counts.log)).toEqual([2, 4, 4])
    expect(timeline.buckets.map(({ seqs }) => seqs)).toEqual([
      [10, 11],
      [12, 15],
      [16, 19],
    ])
  })

  it('counts every event once and never has more slices than its limit', () => {
    fc.assert(
      fc.property(anyItems, (items) => {
        const timeline = rebuild(timelineView({ bucketMs: 10, maxBuckets: 3 }), items)
        const events = items.filter((item) => 'seq' in item).length
        const counted = timeline.buckets.flatMap(({ counts }) => Object.values(counts))
        expect(timeline.buckets.length).toBeLessThanOrEqual(3)
        expect(counted.reduce((sum, count) => sum + count, 0)).toBe(timeline.total)
        expect(timeline.total + timeline.untimed).toBe(events)
        const starts = timeline.buckets.map(({ fromMs }) => fromMs)
        expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b))
        expect(starts.every((start) => start % timeline.bucketMs === 0)).toBe(true)
      }),
    )
  })

  it('puts an event with an earlier time into its own slice', () => {
    const timeline = rebuild(timelineView(), [event(12, 'log.message'), event(11, 'log.message')])
    expect(timeline.buckets.map(({ seqs }) => seqs[0])).toEqual([11, 12])
  })

  it('is incomplete after a gap', () => {
    expect(rebuild(timelineView(), [gap(1, 5)]).complete).toBe(false)
  })

  it('refuses a length that is not a whole number of at least 1, and a limit below 2', () => {
    expect(() => timelineView({ bucketMs: 0 })).toThrow('bucketMs: expected a whole number of at least 1')
    expect(() => timelineView({ maxBuckets: 1 })).toThrow('maxBuckets: expected a whole number of at least 2')
  })
})
