import { setTimeout as sleep } from 'node:timers/promises'
import type { RetentionLimits } from '@vitrine/journal'
import type { JournalItem } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { allItems } from '../events/all-items.ts'
import { coverageFault, eventsOf, numbers, seqsOf } from '../events/coverage.ts'
import { fileChanged, messages, output, work } from '../events/inputs.ts'
import { attempt } from '../waiting/attempt.ts'
import { eventually } from '../waiting/within.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'
import { trimmedJournal } from './trimmed-journal.ts'

export function retentionCases(makeStore: MakeStore): void {
  describe('retention', () => {
    it('removes output first, audit last, and the oldest of each', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      // 10 audit events, 10 of the rest, 10 of output, mixed.
      for (const number of numbers(1, 5)) {
        const { start, end } = work.operation(`op_${number}`)
        await journal.append([start, output('o'), fileChanged('/f'), end, output('o'), fileChanged('/g')])
      }
      await journal.trim({ events: 28 })
      expect(kindsIn(await allItems(journal))).toEqual({ audit: 10, rest: 10, output: 5 })
      await journal.trim({ events: 17 })
      expect(kindsIn(await allItems(journal))).toMatchObject({ audit: 10, output: 0 })
      const operations = seqsOf(await allItems(journal, { types: ['operation.*'] }))
      await journal.trim({ events: 10 })
      const left = eventsOf(await allItems(journal))
      expect(kindsIn(left)).toMatchObject({ rest: 0, output: 0 })
      expect(left.length).toBeLessThanOrEqual(12)
      const kept = seqsOf(left.filter(({ type }) => type.startsWith('operation.')))
      expect(kept.length).toBeGreaterThan(0)
      expect(kept.length).toBeLessThan(10)
      expect(kept).toEqual(operations.slice(-kept.length))
    })

    it.each<[string, RetentionLimits]>([
      ['events', { events: 20 }],
      ['bytes', { bytes: 6_000 }],
      ['age', { ageMs: 1 }],
    ])('trims a journal below its limit by %s and records it', async (reason, limits) => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await journal.append(messages(100))
      await sleep(10)
      await journal.append(messages(1, 'last'))
      const before = eventsOf(await allItems(journal))
      const trimmed = await journal.trim(limits)
      const left = eventsOf(await allItems(journal))
      const missing = before.filter(({ seq }) => !left.some((event) => event.seq === seq))
      expect(missing.length).toBeGreaterThan(50)
      expect(trimmed.events).toBe(missing.length)
      expect(trimmed.bytes).toBe(missing.reduce((sum, event) => sum + JSON.stringify(event).length, 0))
      const records = left.filter(({ type }) => type === 'journal.trimmed')
      expect(records.length).toBeGreaterThan(0)
      for (const { data, derived } of records) {
        expect(derived).toBe(true)
        expect(data.reason).toBe(reason)
      }
      const recordedSeqs = records.flatMap(({ data }) => numbers(Number(data.from), Number(data.to)))
      expect(recordedSeqs.toSorted((a, b) => a - b)).toEqual(missing.map(({ seq }) => seq))
      expect(records.reduce((sum, { data }) => sum + Number(data.events), 0)).toBe(missing.length)
      expect(await journal.verify()).toMatchObject({ ok: true, missing: missing.length, events: left.length })
    })

    it('removes by age only older events', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await journal.append(messages(5))
      await journal.trim({ ageMs: 60_000 })
      expect(seqsOf(await allItems(journal))).toEqual(numbers(1, 5))
    })

    it('trims automatically when a journal exceeds the limits of its store', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open({ retention: { events: 50 } })).journal('a')
      for (const _round of numbers(1, 10)) await journal.append(messages(20))
      await eventually(
        'the journal to be trimmed',
        async () => eventsOf(await allItems(journal)).length <= 50,
      )
      expect(coverageFault(await allItems(journal), { end: journal.head.seq })).toBeUndefined()
      expect(await journal.verify()).toMatchObject({ ok: true })
    })

    it('continues with the next seq and counts the remaining events', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const { journal } = await trimmedJournal(store)
      const next = journal.head.seq + 1
      expect(seqsOf(await journal.append(messages(1)))).toEqual([next])
      expect((await journal.summary()).total).toBe(eventsOf(await allItems(journal)).length)
      const again = await (await fixture.reopen(store)).journal('a')
      expect(seqsOf(await again.append(messages(1)))).toEqual([next + 1])
      expect((await again.summary()).total).toBe(eventsOf(await allItems(again)).length)
    })

    it('rejects invalid limits in openStore and in trim', async () => {
      const fixture = await newStoreFixture(makeStore)
      for (const limits of [{ events: 0 }, { bytes: -1 }, { ageMs: Number.NaN }]) {
        await expect(fixture.open({ retention: limits })).rejects.toMatchObject({ code: 'argument_invalid' })
      }
      const journal = await (await fixture.open()).journal('a')
      await journal.append(messages(5))
      for (const limits of [{ events: 0 }, { bytes: -1 }, { ageMs: Number.NaN }]) {
        await expect(
          attempt(() => journal.trim(limits)),
          JSON.stringify(limits),
        ).rejects.toMatchObject({
          code: 'argument_invalid',
        })
      }
      expect(seqsOf(await allItems(journal))).toEqual(numbers(1, 5))
    })

    it('lets work end once whose start was trimmed', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append([work.operation('op_1').start, work.operation('op_2').start, ...messages(50)])
      await journal.trim({ events: 1 })
      await journal.append([work.operation('op_1').end])
      await expect(journal.append([work.operation('op_1').end])).rejects.toMatchObject({
        code: 'work_not_open',
      })
      const again = await (await fixture.reopen(store)).journal('a')
      const ends = eventsOf((await again.read({ types: ['operation.finished'] })).events)
      expect(ends.map(({ operation, data }) => [operation, data.outcome])).toEqual([
        ['op_1', 'ok'],
        ['op_2', 'interrupted'],
      ])
    })
  })
}

function kindsIn(items: readonly JournalItem[]): { audit: number; rest: number; output: number } {
  const types = eventsOf(items).map(({ type }) => type)
  return {
    audit: types.filter((type) => type.startsWith('operation.')).length,
    rest: types.filter((type) => type.startsWith('file.')).length,
    output: types.filter((type) => type === 'process.output').length,
  }
}
