import type { StoreDriver } from '@vitrine/journal'
import { describe, expect, it } from 'vitest'
import { forwardingConnection } from '../drivers/forwarding-connection.ts'
import { eventsOf, numbers, seqsOf } from '../events/coverage.ts'
import { message, messages, work } from '../events/inputs.ts'
import { attempt } from '../waiting/attempt.ts'
import { take } from '../waiting/take.ts'
import { eventually, within } from '../waiting/within.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'

export function ownershipCases(makeStore: MakeStore): void {
  describe('ownership', () => {
    it('belongs to one host: a second one is refused', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      await expect(fixture.open()).rejects.toMatchObject({ code: 'store_owned' })
      await (await store.journal('a')).append(messages(1))
      await store.close()
      await fixture.open()
    })

    it('is free again when its host has died', async () => {
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
        expect(await within('the tail to end', error)).toMatchObject({ code: 'store_fenced' })
      await expect(journal.append(messages(1))).rejects.toMatchObject({ code: 'store_fenced' })
      expect(seqsOf(await (await second.journal('a')).append(messages(1)))).toEqual([3])
      expect(second.lost.aborted).toBe(false)
    })

    it('tells a host that does nothing that it was fenced off', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      const second = await fixture.open({ takeover: true })
      await eventually('the idle host to learn that it lost its store', () => first.lost.aborted)
      expect(first.lost.reason).toMatchObject({ code: 'store_fenced' })
      expect(second.lost.aborted).toBe(false)
    })

    it('is kept from a host that was taken over and never looked, by every single commit', async () => {
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

    it('is let go by a fenced host, also when a commit told it first', async () => {
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

    it('refuses a fenced host everything that writes', async () => {
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

    it('loses nothing and doubles nothing of what was under way when it was taken over', async () => {
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
      expect(await within('the first host to be fenced', writing)).toMatchObject({ code: 'store_fenced' })
      const taken = await second.journal('a')
      await taken.append([message('second')])
      const { events } = await taken.read({ limit: 10_000 })
      expect(seqsOf(events)).toEqual(numbers(1, events.length))
      expect(eventsOf(events).map(({ data }) => data.message)).toEqual([...acknowledged, 'second'])
      expect(await taken.verify()).toMatchObject({ ok: true })
    })

    it('can be taken over again and again', async () => {
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
