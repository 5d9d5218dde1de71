import { type JournalItem, type JournalReader, type ReadOptions, readPages } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventsOf, log, messageOf, openMemory, stores } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { stopClock } from './clock.ts'
import { mixedEvents } from './dataset.ts'

/** Reads all pages and returns their items. */
async function allPages(
  reader: Pick<JournalReader, 'read'>,
  options: ReadOptions,
): Promise<readonly JournalItem[]> {
  const items: JournalItem[] = []
  let pageCount = 0
  for await (const page of readPages(reader, options)) {
    items.push(...page.events)
    pageCount += 1
    if (pageCount > 1_000) throw new Error('There is no end to the pages.')
  }
  return items
}

describe.each(stores)('pages of a %s store', (_kind, openStore) => {
  it('cover everything exactly once, in either direction, with any filter and any size', async () => {
    const store = await openStore()
    const record = await store.journal('sbx_a')
    await record.append(mixedEvents(60))
    const all = await eventsOf(record)
    const types = fc.constantFrom(undefined, ['file.*'], ['log.message', 'desktop.*'], ['no.such'])
    const direction = fc.constantFrom('asc' as const, 'desc' as const)
    await fc.assert(
      fc.asyncProperty(types, direction, fc.integer({ min: 1, max: 70 }), async (wanted, order, limit) => {
        const options = { ...(wanted && { types: wanted }), order, limit }
        const expected = all.filter(
          ({ type }) =>
            !wanted ||
            wanted.some((one) => type === one || type.startsWith(one.replace('*', '|').split('|')[0]!)),
        )
        if (order === 'desc') expected.reverse()
        expect(await allPages(record, options)).toEqual(expected)
        expect(await allPages(store, options)).toEqual(expected)
      }),
      { numRuns: 80 },
    )
  })

  it('are not affected by concurrent appends when read backwards', async () => {
    const record = await (await openStore()).journal('sbx_a')
    await record.append(Array.from({ length: 10 }, (_, index) => log(`m${index}`)))
    const seen: unknown[] = []
    for await (const page of readPages(record, { order: 'desc', limit: 3 })) {
      seen.push(...page.events.map(messageOf))
      await record.append([log('later')])
    }
    expect(seen).toEqual(Array.from({ length: 10 }, (_, index) => `m${9 - index}`))
  })

  it('have cursors that can be resumed, even if there was nothing to read', async () => {
    const store = await openStore()
    const record = await store.journal('sbx_a')
    for (let round = 0; round < 3; round += 1) {
      const newest = (await record.read()).cursor
      for (const order of ['asc', 'desc'] as const) {
        for (const around of [{}, { after: newest }, { before: newest }]) {
          const page = await record.read({ ...around, order })
          const again = await record.read({ after: page.cursor, order })
          await record.read({ before: page.cursor, order })
          expect(again.end).toBe(true)
          const whole = await store.read({ order })
          await store.read({ after: whole.cursor, order })
          await store.read({ before: whole.cursor, order })
        }
      }
      await record.append([log(`m${round}`)])
    }
  })

  it('start at the first event of a given time', async () => {
    const clock = stopClock()
    const record = await (await openStore()).journal('sbx_a')
    const start = Date.now()
    // 1-3 at 0 s, 4-6 at 1 s, 7-8 at 2 s, 9 at 3 s.
    for (const count of [3, 3, 2, 1]) {
      await record.append(Array.from({ length: count }, () => log('x')))
      clock.advance(1_000)
    }
    const first = async (after: number, order: 'asc' | 'desc' = 'asc') => {
      const { events } = await record.read({ at: new Date(start + after), order, limit: 1 })
      const [item] = events
      return item && 'seq' in item ? item.seq : undefined
    }
    expect(await first(-5)).toBe(1)
    expect(await first(0)).toBe(1)
    expect(await first(1)).toBe(4)
    expect(await first(1_000)).toBe(4)
    expect(await first(1_001)).toBe(7)
    expect(await first(2_999)).toBe(9)
    expect(await first(3_000)).toBe(9)
    expect(await first(3_001)).toBeUndefined()
    expect(await first(1_000, 'desc')).toBe(4)
    expect(await first(9_000, 'desc')).toBe(9)
  })

  it('have times that never decrease, even if the clock does', async () => {
    const clock = stopClock()
    const record = await (await openStore()).journal('sbx_a')
    await record.append([log('a')])
    clock.advance(-60_000)
    await record.append([log('b')])
    clock.advance(120_000)
    await record.append([log('c')])
    const times = (await eventsOf(record)).map(({ time }) => time)
    expect(times).toEqual(times.toSorted())
    expect(times[1]).toBe(times[0])
    const { events } = await record.read({ at: new Date(times[1]!) })
    expect(events.map(messageOf)).toEqual(['a', 'b', 'c'])
  })
})

describe.each(stores)('pages over a whole %s store', (_kind, openStore) => {
  it('contain every journal in commit order', async () => {
    const store = await openStore()
    const [a, b] = [await store.journal('sbx_a'), await store.journal('sbx_b')]
    for (let round = 0; round < 5; round += 1) {
      await a.append([log(`a${round}`)])
      await Promise.all([b.append([log(`b${round}`)]), a.append([log(`a${round}'`)])])
    }
    const { events, end } = await store.read()
    expect(end).toBe(true)
    expect(events.map(messageOf)).toEqual(
      Array.from({ length: 5 }, (_, round) => [`a${round}`, `b${round}`, `a${round}'`]).flat(),
    )
    expect((await store.read({ text: 'B3' })).events.map(messageOf)).toEqual(['b3'])
    expect((await store.journals()).toSorted()).toEqual(['sbx_a', 'sbx_b'])
  })

  it('begin at a start time', async () => {
    const clock = stopClock()
    const store = await openStore()
    const [a, b] = [await store.journal('sbx_a'), await store.journal('sbx_b')]
    for (const round of [0, 1, 2, 3]) {
      await a.append([log(`a${round}`)])
      await b.append([log(`b${round}`)])
      clock.advance(1_000)
    }
    const from = async (ms: number, order?: 'desc') => {
      const at = new Date(Date.parse('2026-01-02T03:04:05.000Z') + ms)
      return (await store.read({ at, ...(order && { order }) })).events.map(messageOf)
    }
    expect(await from(-5_000)).toHaveLength(8)
    expect(await from(1_001)).toEqual(['a2', 'b2', 'a3', 'b3'])
    expect(await from(3_000)).toEqual(['a3', 'b3'])
    expect(await from(3_001)).toEqual([])
    expect(await from(1_000, 'desc')).toEqual(['a1', 'b0', 'a0'])
    expect(await from(9_000, 'desc')).toHaveLength(8)
  })
})

describe('a journal', () => {
  it.each(['', '../x', 'a b', 'ü', 'x'.repeat(129), 5, null])('is rejected with the id %j', async (id) => {
    const store = await openMemory()
    expect(await thrownBy(() => store.journal(id as string))).toMatchObject({ code: 'argument_invalid' })
  })
})
