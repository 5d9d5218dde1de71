import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { interceptedDriver } from '../drivers/intercepted-driver.ts'
import { numbers, seqsOf } from '../events/coverage.ts'
import { messages } from '../events/inputs.ts'
import { attempt } from '../waiting/attempt.ts'
import { background } from '../waiting/background.ts'
import { take } from '../waiting/take.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'

export function readOnlyCases(makeStore: MakeStore): void {
  describe('a read-only store', () => {
    it('opens with and without an owner', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      await (await store.journal('a')).append(messages(2))
      const beside = await fixture.readOnly()
      expect(seqsOf((await (await beside.journal('a')).read()).events)).toEqual([1, 2])
      await beside.close()
      await store.close()
      const alone = await fixture.readOnly()
      expect(seqsOf((await (await alone.journal('a')).read()).events)).toEqual([1, 2])
      expect(await alone.journals()).toEqual(['a'])
      await fixture.open()
    })

    it('rejects every write', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      await (await store.journal('a')).append(messages(20))
      const exported = await (await store.journal('a')).export()
      const reader = await fixture.readOnly()
      const journal = await reader.journal('a')
      const refused = { code: 'store_read_only' }
      await expect(journal.append(messages(1))).rejects.toMatchObject(refused)
      await expect(journal.trim({ events: 5 })).rejects.toMatchObject(refused)
      await expect(journal.import(exported)).rejects.toMatchObject(refused)
      await expect(attempt(() => reader.putBlob('x'))).rejects.toMatchObject(refused)
      await expect(attempt(() => reader.sweepBlobs())).rejects.toMatchObject(refused)
      await expect(
        attempt(() => reader.addSink('s', { kind: 'x', write: async () => {} })),
      ).rejects.toMatchObject(refused)
      expect(seqsOf((await (await store.journal('a')).read()).events)).toEqual(numbers(1, 20))
    })

    it('rejects asynchronously, never by throwing', async () => {
      const fixture = await newStoreFixture(makeStore)
      await fixture.open()
      const reader = await fixture.readOnly()
      let promise: Promise<unknown> | undefined
      expect(() => {
        promise = reader.putBlob('x')
      }).not.toThrow()
      await expect(promise).rejects.toMatchObject({ code: 'store_read_only' })
    })

    it('tails the commits of its owner live', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append(messages(2))
      const reader = await fixture.readOnly()
      const [tail, storeTail] = [(await reader.journal('a')).tail(), reader.tail()]
      expect(seqsOf(await take(tail, 2))).toEqual([1, 2])
      for (let round = 0; round < 5; round += 1) await journal.append(messages(3))
      expect(seqsOf(await take(tail, 15))).toEqual(numbers(3, 17))
      expect(seqsOf(await take(storeTail, 17))).toEqual(numbers(1, 17))
    })

    it('tails a journal that does not exist yet', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const reader = await (await fixture.readOnly()).journal('later')
      const tail = reader.tail()
      const first = background(take(tail, 2))
      const journal = await store.journal('later')
      await journal.append(messages(2))
      expect(seqsOf(await first)).toEqual([1, 2])
      expect(seqsOf((await reader.read({ after: reader.cursor({ seq: 1 }) })).events)).toEqual([2])
    })

    it('misses no commit between its scan and its sleep', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await journal.append(messages(1))
      const driver = interceptedDriver(fixture.driver())
      const tail = (await (await fixture.readOnly({}, driver)).journal('a')).tail()
      await take(tail, 1)
      driver.after('head', async () => {
        await journal.append(messages(1))
        // Long enough for the reader to notice the commit before it has read it.
        await sleep(200)
      })
      expect(seqsOf(await take(tail, 1))).toEqual([2])
      expect(driver.unused).toEqual([])
    })

    it('continues after its owner crashes and the next one opens the store', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      await (await first.journal('a')).append(messages(2))
      const tail = (await (await fixture.readOnly()).journal('a')).tail()
      await take(tail, 2)
      await fixture.crash(first)
      const second = await fixture.open()
      await (await second.journal('a')).append(messages(2))
      expect(seqsOf(await take(tail, 2))).toEqual([3, 4])
    })
  })
}
