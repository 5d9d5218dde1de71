import type { JournalEvent, Summary } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventsOf, log, openMemory, stores } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { stopClock } from './clock.ts'
import { filters, mixedEvents, naiveMatch } from './dataset.ts'

function countTypes(events: readonly JournalEvent[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { type } of events) counts[type] = (counts[type] ?? 0) + 1
  return counts
}

/** Checks a summary against the events one by one. */
function check(
  summary: Summary,
  matching: readonly JournalEvent[],
  all: readonly JournalEvent[],
  buckets: number,
) {
  expect(summary.total).toBe(matching.length)
  expect(summary.counts).toEqual(countTypes(matching))
  expect(summary.buckets.length).toBeLessThanOrEqual(buckets)
  expect(summary.buckets.length).toBeGreaterThan(0)
  expect(summary.buckets[0]?.from).toBe(all[0]?.time)
  expect(Date.parse(summary.buckets.at(-1)!.to)).toBeGreaterThan(Date.parse(all.at(-1)!.time))
  let counted = 0
  const widths = new Set<number>()
  for (const [index, bucket] of summary.buckets.entries()) {
    const inside = matching.filter(({ time }) => time >= bucket.from && time < bucket.to)
    counted += inside.length
    expect(bucket.counts).toEqual(countTypes(inside))
    expect(bucket.seqs).toEqual(inside.length > 0 ? [inside[0]!.seq, inside.at(-1)!.seq] : undefined)
    widths.add(Date.parse(bucket.to) - Date.parse(bucket.from))
    if (index > 0) expect(bucket.from).toBe(summary.buckets[index - 1]!.to)
  }
  expect(counted).toBe(matching.length)
  expect(widths.size).toBe(1)
}

describe.each(stores)('a summary of a %s journal', (_kind, openStore) => {
  it('counts events in intervals of equal length', async () => {
    const clock = stopClock()
    const record = await (await openStore()).journal('sbx_a')
    for (const [index, event] of mixedEvents(80).entries()) {
      await record.append([event])
      clock.advance([0, 0, 1, 7, 250, 10_000][index % 6]!)
    }
    const all = await eventsOf(record)
    await fc.assert(
      fc.asyncProperty(filters, fc.constantFrom(1, 2, 7, 60, 300), async (filter, buckets) => {
        const matching = all.filter((event) => naiveMatch(filter, event))
        check(await record.summary({ ...filter, buckets }), matching, all, buckets)
      }),
      { numRuns: 40 },
    )
    expect((await record.summary({ buckets: 10_000 })).total).toBe(80)
  })

  it('has one interval when all events have the same time', async () => {
    stopClock()
    const record = await (await openStore()).journal('sbx_a')
    await record.append(mixedEvents(5))
    const summary = await record.summary()
    expect(summary.buckets).toHaveLength(1)
    check(summary, await eventsOf(record), await eventsOf(record), 60)
  })

  it('is empty for an empty journal', async () => {
    const record = await (await openStore()).journal('sbx_a')
    expect(await record.summary()).toEqual({ buckets: [], total: 0, counts: {} })
  })

  it('counts only its own journal and only events that were not trimmed', async () => {
    const store = await openStore()
    const [a, b] = [await store.journal('sbx_a'), await store.journal('sbx_b')]
    await b.append([log('other')])
    await a.append(Array.from({ length: 20 }, () => log('x')))
    await a.trim({ events: 10 })
    const { counts } = await a.summary()
    const { events } = await a.read()
    expect(counts).toEqual(countTypes(events.filter((item) => 'seq' in item)))
    expect(counts['log.message']).toBeLessThan(20)
  })
})

describe('a summary', () => {
  it('has 60 intervals by default', async () => {
    const clock = stopClock()
    const record = await (await openMemory()).journal('sbx_a')
    await record.append([log('first')])
    clock.advance(59_999)
    await record.append([log('last')])
    expect((await record.summary()).buckets).toHaveLength(60)
  })

  it.each<object>([{ buckets: 0 }, { buckets: 10_001 }, { buckets: 2.5 }, { types: 'file.*' }])(
    'refuses %j',
    async (options) => {
      const record = await (await openMemory()).journal('sbx_a')
      await record.append([log('x')])
      expect(await thrownBy(() => record.summary(options))).toMatchObject({ code: 'argument_invalid' })
    },
  )

  it('is rejected when its signal aborts', async () => {
    const record = await (await openMemory()).journal('sbx_a')
    await record.append([log('x')])
    const reason = new Error('enough')
    expect(await thrownBy(() => record.summary({ signal: AbortSignal.abort(reason) }))).toBe(reason)
  })
})
