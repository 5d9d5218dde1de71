import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { held } from '../drivers/held.ts'
import { numbers, seqsOf } from '../events/coverage.ts'
import { messages } from '../events/inputs.ts'
import { attempt } from '../waiting/attempt.ts'
import { background } from '../waiting/background.ts'
import { take } from '../waiting/take.ts'
import { type MakeStore, newScene } from './scene.ts'

export function readOnlyCases(makeStore: MakeStore): void {
  describe('a read-only store', () => {
    it('opens beside its owner, and when there is none', async () => {
      const scene = await newScene(makeStore)
      const store = await scene.open()
      await (await store.journal('a')).append(messages(2))
      const beside = await scene.readOnly()
      expect(seqsOf((await (await beside.journal('a')).read()).events)).toEqual([1, 2])
      await beside.close()
      await store.close()
      const alone = await scene.readOnly()
      expect(seqsOf((await (await alone.journal('a')).read()).events)).toEqual([1, 2])
      expect(await alone.journals()).toEqual(['a'])
      await scene.open()
    })

    it('refuses everything that writes', async () => {
      const scene = await newScene(makeStore)
      const store = await scene.open()
      await (await store.journal('a')).append(messages(20))
      const exported = await (await store.journal('a')).export()
      const reader = await scene.readOnly()
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

    it('refuses by rejecting, never by throwing', async () => {
      const scene = await newScene(makeStore)
      await scene.open()
      const reader = await scene.readOnly()
      let promise: Promise<unknown> | undefined
      expect(() => {
        promise = reader.putBlob('x')
      }).not.toThrow()
      await expect(promise).rejects.toMatchObject({ code: 'store_read_only' })
    })

    it('tails what its owner commits, live', async () => {
      const scene = await newScene(makeStore)
      const store = await scene.open()
      const journal = await store.journal('a')
      await journal.append(messages(2))
      const reader = await scene.readOnly()
      const [tail, storeTail] = [(await reader.journal('a')).tail(), reader.tail()]
      expect(seqsOf(await take(tail, 2))).toEqual([1, 2])
      for (let round = 0; round < 5; round += 1) await journal.append(messages(3))
      expect(seqsOf(await take(tail, 15))).toEqual(numbers(3, 17))
      expect(seqsOf(await take(storeTail, 17))).toEqual(numbers(1, 17))
    })

    it('tails a journal that does not exist yet', async () => {
      const scene = await newScene(makeStore)
      const store = await scene.open()
      const reader = await (await scene.readOnly()).journal('later')
      const tail = reader.tail()
      const first = background(take(tail, 2))
      const journal = await store.journal('later')
      await journal.append(messages(2))
      expect(seqsOf(await first)).toEqual([1, 2])
      expect(seqsOf((await reader.read({ after: reader.cursor({ seq: 1 }) })).events)).toEqual([2])
    })

    it('misses no commit that comes between its look and its sleep', async () => {
      const scene = await newScene(makeStore)
      const journal = await (await scene.open()).journal('a')
      await journal.append(messages(1))
      const driver = held(scene.driver())
      const tail = (await (await scene.readOnly({}, driver)).journal('a')).tail()
      await take(tail, 1)
      driver.after('head', async () => {
        await journal.append(messages(1))
        // Long enough for the reader to notice that something was committed, and not yet know what.
        await sleep(200)
      })
      expect(seqsOf(await take(tail, 1))).toEqual([2])
      expect(driver.unused).toEqual([])
    })

    it('goes on over the death of one owner and the coming of the next', async () => {
      const scene = await newScene(makeStore)
      const first = await scene.open()
      await (await first.journal('a')).append(messages(2))
      const tail = (await (await scene.readOnly()).journal('a')).tail()
      await take(tail, 2)
      await scene.crash(first)
      const second = await scene.open()
      await (await second.journal('a')).append(messages(2))
      expect(seqsOf(await take(tail, 2))).toEqual([3, 4])
    })
  })
}
