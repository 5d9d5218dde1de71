import type { StoreDriver } from '@vitrine/journal'
import { describe, expect, it } from 'vitest'
import { forwardingConnection } from '../drivers/forwarding-connection.ts'
import { eventsOf, numbers, seqsOf } from '../events/coverage.ts'
import { message, messages, work } from '../events/inputs.ts'
import { attempt } from '../waiting/attempt.ts'
import { take } from '../waiting/take.ts'
import { eventually, withTimeLimit } from '../waiting/within.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'

export function ownershipCases(makeStore: MakeStore): void {
  describe('ownership', () => {
    it('is exclusive: a second host is rejected', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      await expect(fixture.open()).rejects.toMatchObject({ code: 'store_owned' })
      await (await store.journal('a')).append(messages(1))
      await store.close()
      await fixture.open()
    })

    it('is free again when its host has crashed', async () => {
      const fixture = await newStoreFixture(makeStore)
      await fixture.crash(await fixture.open())
      await fixture.open()
    })

    it('can be taken over, and the first host is fenced off', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      const journal = await first.journal('a')
      await journal.append(messages(2))
      const [tail, storeTail] = [journal.tail(), first.tail()]
      await take(tail, 2)
      await take(storeTail, 2)
      const cut = [tail.next(), storeTail.next()].map((next) => next.catch((error: unknown) => error))

      const second = await fixture.open({ takeover: true })
      await expect(journal.append(messages(1))).rejects.toMatchObject({ code: 'store_fenced' })
      await eventually('the first host to learn that it lost its store', () => first.lost.aborted)
      expect(first.lost.reason).toMatchObject({ code: 'store_fenced' })
      for (const error of cut)
        expect(await withTimeLimit('the tail to end', error)).toMatchObject({ code: 'store_fenced' })
      await expect(journal.append(messages(1))).rejects.toMatchObject({ code: 'store_fenced' })
      expect(seqsOf(await (await second.journal('a')).append(messages(1)))).toEqual([3])
      expect(second.lost.aborted).toBe(false)
    })

    it('is lost by an idle host, which notices that it was fenced', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      const second = await fixture.open({ takeover: true })
      await eventually('the idle host to learn that it lost its store', () => first.lost.aborted)
      expect(first.lost.reason).toMatchObject({ code: 'store_fenced' })
      expect(second.lost.aborted).toBe(false)
    })

    it('is checked by every commit of a host that has not noticed the takeover', async () => {
      const fixture = await newStoreFixture(makeStore)
      const driver = fixture.driver()
      const blind: StoreDriver = {
        kind: driver.kind,
        open: async (options) =>
          forwardingConnection(await driver.open(options), undefined, { owns: async () => true }),
      }
      const first = await fixture.open({}, blind)
      const journal = await first.journal('a')
      await journal.append(messages(1))
      const second = await fixture.open({ takeover: true })
      const taken = await second.journal('a')
      await taken.append(messages(1))
      await expect(journal.append(messages(1))).rejects.toMatchObject({ code: 'store_fenced' })
      expect(first.lost.aborted).toBe(true)
      expect(seqsOf(await taken.append(messages(1)))).toEqual([3])
      expect(await taken.verify()).toMatchObject({ ok: true })
    })

    it('is released by a fenced host, even if a commit noticed it first', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      const journal = await first.journal('a')
      const taking = fixture.open({ takeover: true })
      await eventually('the first host to be fenced', () =>
        journal.append(messages(1)).then(
          () => false,
          () => true,
        ),
      )
      const second = await taking
      await second.close()
      const third = await fixture.open()
      await (await third.journal('a')).append(messages(1))
    })

    it('is required by every write: a fenced host is rejected', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      const journal = await first.journal('a')
      await journal.append(messages(20))
      await fixture.open({ takeover: true })
      await eventually('the first host to learn it', () => first.lost.aborted)
      const fenced = { code: 'store_fenced' }
      await expect(journal.append([work.process('p').start])).rejects.toMatchObject(fenced)
      await expect(journal.trim({ events: 5 })).rejects.toMatchObject(fenced)
      await expect(attempt(() => first.putBlob('x'))).rejects.toMatchObject(fenced)
      await expect(attempt(() => first.sweepBlobs())).rejects.toMatchObject(fenced)
      await expect(
        attempt(() => first.addSink('s', { kind: 'x', write: async () => {} })),
      ).rejects.toMatchObject(fenced)
    })

    it('changes without losing or repeating pending appends', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      const journal = await first.journal('a')
      const acknowledged: string[] = []
      const writing = (async () => {
        for (let number = 0; ; number += 1) {
          await journal.append([message(`first ${number}`)])
          acknowledged.push(`first ${number}`)
        }
      })().catch((error: unknown) => error)
      await eventually('the first host to write', () => acknowledged.length > 5)
      const second = await fixture.open({ takeover: true })
      expect(await withTimeLimit('the first host to be fenced', writing)).toMatchObject({
        code: 'store_fenced',
      })
      const taken = await second.journal('a')
      await taken.append([message('second')])
      const { events } = await taken.read({ limit: 10_000 })
      expect(seqsOf(events)).toEqual(numbers(1, events.length))
      expect(eventsOf(events).map(({ data }) => data.message)).toEqual([...acknowledged, 'second'])
      expect(await taken.verify()).toMatchObject({ ok: true })
    })

    it('can be taken over repeatedly', async () => {
      const fixture = await newStoreFixture(makeStore)
      let last = await (await fixture.open()).journal('a')
      for (let round = 1; round <= 3; round += 1) {
        const next = await (await fixture.open({ takeover: true })).journal('a')
        expect(seqsOf(await next.append(messages(1)))).toEqual([round])
        await expect(last.append(messages(1))).rejects.toMatchObject({ code: 'store_fenced' })
        last = next
      }
    })
  })
}
