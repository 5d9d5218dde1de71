import { describe, expect, it } from 'vitest'
import { eventsOf, seqsOf } from '../events/coverage.ts'
import { message, messages, work, workNames } from '../events/inputs.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'

export function workCases(makeStore: MakeStore): void {
  describe.each(workNames)('open work: %s', (kind) => {
    const { start, end } = work[kind]('the_one')

    it('starts once and ends once', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await journal.append([start])
      await journal.append([end])
      expect(eventsOf((await journal.read()).events).map(({ type }) => type)).toEqual([start.type, end.type])
    })

    it('rejects a whole batch with a second start while the first is open', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await journal.append([start])
      await expect(journal.append([message('x'), start])).rejects.toMatchObject({ code: 'work_already_open' })
      expect(seqsOf(await journal.append([end]))).toEqual([2])
    })

    it('rejects an end without a start', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await expect(journal.append([end])).rejects.toMatchObject({ code: 'work_not_open' })
      await expect(journal.append([message('x'), end])).rejects.toMatchObject({ code: 'work_not_open' })
      expect(seqsOf(await journal.append(messages(1)))).toEqual([1])
    })

    it('rejects a second end in the same batch, later, and after reopening', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await expect(journal.append([start, end, end])).rejects.toMatchObject({ code: 'work_not_open' })
      await journal.append([start, end])
      await expect(journal.append([end])).rejects.toMatchObject({ code: 'work_not_open' })
      const again = await (await fixture.reopen(store)).journal('a')
      await expect(again.append([end])).rejects.toMatchObject({ code: 'work_not_open' })
      expect(seqsOf((await again.read()).events)).toEqual([1, 2])
    })

    it('commits only one of two ends that were appended in one tick', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await journal.append([start])
      const results = await Promise.allSettled([journal.append([end]), journal.append([end])])
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
      expect(seqsOf((await journal.read()).events)).toEqual([1, 2])
    })

    it('is open in its own journal only', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const [a, b] = [await store.journal('a'), await store.journal('b')]
      await a.append([start])
      await expect(b.append([end])).rejects.toMatchObject({ code: 'work_not_open' })
      await b.append([start])
      await a.append([end])
      await b.append([end])
    })

    it('may start again once it has ended', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      for (let round = 0; round < 3; round += 1) {
        await journal.append([start])
        await journal.append([end])
      }
      expect(seqsOf((await journal.read()).events)).toEqual([1, 2, 3, 4, 5, 6])
    })

    it('may end and start again in one batch', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append([start])
      expect(seqsOf(await journal.append([end, start]))).toEqual([2, 3])
      expect(seqsOf(await journal.append([end]))).toEqual([4])
      const again = await (await fixture.reopen(store)).journal('a')
      expect(seqsOf((await again.read()).events)).toEqual([1, 2, 3, 4])
    })
  })

  describe('open work', () => {
    it('is distinguished by kind when ids are equal', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await journal.append(workNames.map((kind) => work[kind]('same').start))
      for (const kind of workNames) await journal.append([work[kind]('same').end])
    })

    it('is rejected without an id', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await expect(journal.append([{ type: 'turn.started', data: {} }])).rejects.toMatchObject({
        code: 'event_invalid',
      })
      await expect(
        journal.append([{ type: 'operation.started', data: { op: 'exec' } }]),
      ).rejects.toMatchObject({
        code: 'event_invalid',
      })
    })
  })
}
