import type { JournalItem } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Journal } from '../../src/index.ts'
import { eventsOf, log, openMemory, openSqlite, stores } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { filters, mixedEvents, naiveMatch } from './dataset.ts'

const seqs = (items: readonly JournalItem[]) => items.map((item) => ('seq' in item ? item.seq : 'gap'))

async function both(): Promise<readonly Journal[]> {
  const opened = [await openMemory(), await openSqlite()]
  return Promise.all(
    opened.map(async (store) => {
      const record = await store.journal('sbx_a')
      await record.append(mixedEvents(120))
      return record
    }),
  )
}

describe('a filter', () => {
  it('matches the same events in memory, in SQLite, and by a check of every event', async () => {
    const journals = await both()
    const all = await Promise.all(journals.map((journal) => eventsOf(journal)))
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        for (const [index, journal] of journals.entries()) {
          const expected = all[index]!.filter((event) => naiveMatch(filter, event))
          const { events, end } = await journal.read({ ...filter, limit: 10_000 })
          expect(end).toBe(true)
          expect(seqs(events)).toEqual(expected.map(({ seq }) => seq))
        }
      }),
      { numRuns: 400 },
    )
  })

  it('matches the same events in both orders, between any bounds, in pages of any size', async () => {
    const journals = await both()
    const all = await Promise.all(journals.map((journal) => eventsOf(journal)))
    const place = fc.option(fc.integer({ min: 0, max: 120 }), { nil: undefined })
    const order = fc.constantFrom('asc' as const, 'desc' as const)
    const at = fc.option(fc.integer({ min: 1, max: 130 }), { nil: undefined })
    await fc.assert(
      fc.asyncProperty(
        filters,
        place,
        place,
        at,
        order,
        fc.integer({ min: 1, max: 40 }),
        async (filter, after, before, start, direction, limit) => {
          for (const [index, journal] of journals.entries()) {
            const cursor = (seq: number) => journal.cursor({ seq })
            const options = {
              ...filter,
              ...(after !== undefined && { after: cursor(after) }),
              ...(before !== undefined && { before: cursor(before) }),
              ...(start !== undefined && { at: start }),
              order: direction,
              limit,
            }
            const forwards = direction === 'asc'
            const expected = all[index]!.filter(
              (event) =>
                naiveMatch(filter, event) &&
                event.seq > (after ?? 0) &&
                event.seq < (before ?? 1_000) &&
                (start === undefined || (forwards ? event.seq >= start : event.seq <= start)),
            ).map(({ seq }) => seq)
            if (!forwards) expected.reverse()
            const { events } = await journal.read(options)
            expect(seqs(events)).toEqual(expected.slice(0, limit))
          }
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe.each(stores)('a page of a %s store', (_kind, openStore) => {
  it('advances over more than one scan window when its filter matches nothing', async () => {
    const record = await (await openStore()).journal('sbx_a')
    await record.append([log('the first')])
    await record.append(Array.from({ length: 10_498 }, () => log('x')))
    await record.append([log('the last')])
    const page = await record.read({ types: ['file.*'] })
    expect(page).toMatchObject({ events: [], end: true, cursor: record.cursor({ seq: 10_500 }) })
    await record.append([{ type: 'file.created', data: { path: 'a', kind: 'file' } }])
    expect(seqs((await record.read({ types: ['file.*'], after: page.cursor })).events)).toEqual([10_501])
    expect(seqs((await record.read({ text: 'THE LAST' })).events)).toEqual([10_500])
    expect(seqs((await record.read({ text: 'the first', order: 'desc' })).events)).toEqual([1])
  })

  it('is empty and at its end for an empty journal', async () => {
    const record = await (await openStore()).journal('sbx_a')
    const page = await record.read()
    expect(page).toMatchObject({ events: [], end: true })
    await record.append([log('first')])
    expect(seqs((await record.read({ after: page.cursor })).events)).toEqual([1])
  })

  it('shares frozen events', async () => {
    const record = await (await openStore()).journal('sbx_a')
    await record.append([{ type: 'log.message', data: { level: 'info', message: 'm', deep: [{ a: 1 }] } }])
    const { events } = await record.read()
    const [event] = events
    expect(Object.isFrozen(event) && Object.isFrozen(event?.data)).toBe(true)
    expect(() => Object.assign(event?.data ?? {}, { message: 'changed' })).toThrow(TypeError)
  })

  it.each<[string, object]>([
    ['a limit of 0', { limit: 0 }],
    ['a limit above 10,000', { limit: 10_001 }],
    ['half a limit', { limit: 1.5 }],
    ['another order', { order: 'sideways' }],
    ['types that are no list', { types: 'file.*' }],
    ['types that are no texts', { types: [5] }],
    ['a seq of 0', { at: 0 }],
    ['a seq in words', { at: 'now' }],
    ['a time that is none', { at: new Date(Number.NaN) }],
  ])('rejects %s with the expected value', async (_what, options) => {
    const record = await (await openStore()).journal('sbx_a')
    expect(await thrownBy(() => record.read(options))).toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('expected'),
    })
  })

  it('is rejected when its signal aborts', async () => {
    const record = await (await openStore()).journal('sbx_a')
    await record.append([log('x')])
    const reason = new Error('enough')
    expect(await thrownBy(() => record.read({ signal: AbortSignal.abort(reason) }))).toBe(reason)
  })
})

describe('a text to search for', () => {
  it('is handled alike by all stores when very long: searched, or rejected as an argument', async () => {
    for (const length of [1_000, 60_000]) {
      const text = 'n'.repeat(length)
      const answers = await Promise.all(
        (await both()).map((journal) =>
          journal.read({ text }).then(
            ({ events }) => events.length,
            (error) => error.code,
          ),
        ),
      )
      expect(answers[1]).toBe(answers[0])
      expect([0, 'argument_invalid']).toContain(answers[0])
    }
  })
})
