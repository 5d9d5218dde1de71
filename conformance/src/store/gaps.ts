import { type EventInput, isGap, type JournalGap, type ReadOptions } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { allItems } from '../events/all-items.ts'
import { coverageFault, numbers } from '../events/coverage.ts'
import { messages, output } from '../events/inputs.ts'
import { takeTo } from '../waiting/take.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'
import { trimmedJournal } from './trimmed-journal.ts'

export function gapCases(makeStore: MakeStore): void {
  describe('a gap', () => {
    it('has the range, reason and types of the trimmed events', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const { journal, missing } = await trimmedJournal(store)
      const items = await allItems(journal)
      expect(coverageFault(items, { end: journal.head.seq })).toBeUndefined()
      const gaps = items.filter(isGap)
      expect(gaps.flatMap(({ data }) => numbers(data.from, data.to))).toEqual(missing.map(({ seq }) => seq))
      for (const { journal: id, data } of gaps) {
        expect(id).toBe('a')
        expect(data.reason).toBe('events')
        const types = missing.filter(({ seq }) => seq >= data.from && seq <= data.to).map(({ type }) => type)
        expect([...data.types].toSorted()).toEqual([...new Set(types)].toSorted())
      }
    })

    it('is the same for every way of reading', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      await trimmedJournal(first)
      const store = await fixture.reopen(first)
      const journal = await store.journal('a')
      const items = await allItems(journal)
      expect(items.some(isGap)).toBe(true)
      expect(await takeTo(journal.tail(), journal.head.seq)).toEqual(items)
      for (const limit of [1, 3, 10]) expect(await allItems(journal, { limit })).toEqual(items)
      expect(await allItems(journal, { order: 'desc' })).toEqual(items.toReversed())
      for (const limit of [1, 3])
        expect(await allItems(journal, { order: 'desc', limit })).toEqual(items.toReversed())
      const reader = await (await fixture.readOnly()).journal('a')
      expect(await allItems(reader)).toEqual(items)
      expect(await takeTo(reader.tail(), journal.head.seq)).toEqual(items)
    })

    it('has the cursor to resume from', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      await trimmedJournal(first)
      const journal = await (await fixture.reopen(first)).journal('a')
      const items = await allItems(journal)
      for (const [index, item] of items.entries()) {
        if (!isGap(item)) continue
        const rest = items.slice(index + 1)
        expect((await journal.read({ after: item.data.cursor })).events).toEqual(rest)
        expect(await takeTo(journal.tail({ after: item.data.cursor }), journal.head.seq)).toEqual(rest)
      }
    })

    it('covers only the missing part for a reader that stopped inside it', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append(messages(40))
      const cursors = numbers(0, 40).map((seq) => ({ seq, cursor: journal.cursor({ seq }) }))
      await journal.trim({ events: 20 })
      const again = await (await fixture.reopen(store)).journal('a')
      for (const { seq, cursor } of cursors) {
        const after = (await again.read({ after: cursor })).events
        expect(coverageFault(after, { start: seq, end: again.head.seq })).toBeUndefined()
        if (seq === 0) continue
        const before = (await again.read({ before: cursor })).events
        expect(coverageFault(before, { end: seq - 1 })).toBeUndefined()
        const backwards = (await again.read({ before: cursor, order: 'desc' })).events
        expect(backwards).toEqual(before.toReversed())
      }
    })

    it('grows exactly when adjacent events are trimmed', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open({ recent: { maxEntries: 0 } })
      const journal = await store.journal('a')
      for (const round of numbers(1, 8)) {
        await journal.append([...messages(10), ...numbers(1, 10).map((offset) => output('o', offset))])
        await journal.trim({ events: 30 - round })
        const items = await allItems(journal)
        expect(coverageFault(items, { end: journal.head.seq })).toBeUndefined()
        expect(await takeTo(journal.tail(), journal.head.seq)).toEqual(items)
        expect(await journal.verify()).toMatchObject({ ok: true })
      }
    })

    it('is not reported to a reader whose filter matches none of its types', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const { journal } = await trimmedJournal(store)
      const gapsFor = async (options: ReadOptions) => (await allItems(journal, options)).filter(isGap)
      const unfiltered = await gapsFor({})
      expect(new Set(unfiltered.flatMap(({ data }) => data.types))).toEqual(new Set(['process.output']))
      expect(await gapsFor({ types: ['log.message'] })).toEqual([])
      expect(await gapsFor({ types: ['file.*', 'operation.*'] })).toEqual([])
      expect(await gapsFor({ types: ['process.*'] })).toEqual(unfiltered)
      expect(await gapsFor({ types: ['log.message', 'process.output'] })).toEqual(unfiltered)
    })

    it('is reported to a reader of any one type when it has many types', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      const types = numbers(1, 100).map((number) => `desktop.${'x'.repeat(number)}`)
      await journal.append([...types.map((type): EventInput => ({ type, data: {} })), ...messages(2)])
      await journal.trim({ events: 1 })
      const blind: string[] = []
      for (const type of types)
        if (!(await allItems(journal, { types: [type] })).some(isGap)) blind.push(type)
      expect(blind).toEqual([])
    })

    it('appears in the order of the whole store too', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open({ recent: { maxEntries: 0 } })
      const [a, b] = [await store.journal('a'), await store.journal('b')]
      for (const _round of numbers(1, 20)) {
        await a.append(messages(2))
        await b.append(messages(1))
      }
      await a.trim({ events: 10 })
      await b.trim({ events: 5 })
      for (const limit of [1, 4, 1_000]) {
        const items = await allItems(store, { limit })
        for (const journal of [a, b]) {
          const own = items.filter((item) => item.journal === journal.id)
          expect(coverageFault(own, { end: journal.head.seq })).toBeUndefined()
        }
      }
    })

    it('is frozen', async () => {
      const fixture = await newStoreFixture(makeStore)
      const { journal } = await trimmedJournal(await fixture.open())
      const gap = (await allItems(journal)).find((item): item is JournalGap => isGap(item))
      expect([Object.isFrozen(gap), Object.isFrozen(gap?.data), Object.isFrozen(gap?.data.types)]).toEqual([
        true,
        true,
        true,
      ])
    })
  })
}
