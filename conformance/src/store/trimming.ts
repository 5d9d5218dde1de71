import { describe, expect, it } from 'vitest'
import { interceptedDriver } from '../drivers/intercepted-driver.ts'
import { allItems } from '../events/all-items.ts'
import { coverageFault, eventsOf, numbers } from '../events/coverage.ts'
import { message, messages, output } from '../events/inputs.ts'
import { background } from '../waiting/background.ts'
import { take, takeTo } from '../waiting/take.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'

export function trimmingCases(makeStore: MakeStore): void {
  describe('trimming', () => {
    it('removes the same events when called twice concurrently as when called once', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append(messages(100))
      const trimmed = await Promise.all(numbers(1, 3).map(() => journal.trim({ events: 20 })))
      const items = await allItems(journal)
      expect(coverageFault(items, { end: journal.head.seq })).toBeUndefined()
      const missing = journal.head.seq - eventsOf(items).length
      expect(trimmed.reduce((sum, { events }) => sum + events, 0)).toBe(missing)
      expect(await journal.verify()).toMatchObject({ ok: true, missing })
      const again = await (await fixture.reopen(store)).journal('a')
      await again.append(messages(30))
      await again.trim({ events: 20 })
      expect(eventsOf(await allItems(again)).length).toBeLessThanOrEqual(20)
    })

    it('loses only the recorded events while others are appended', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open({ recent: { maxEntries: 0 } })).journal('a')
      const tail = background(takeTo(journal.tail({ types: ['log.message', 'journal.*'] }), 600))
      let trimming: Promise<unknown> = Promise.resolve()
      for (const round of numbers(1, 60)) {
        await journal.append(messages(10))
        if (round % 10 === 0) trimming = trimming.then(() => journal.trim({ events: 100 }))
      }
      await trimming
      expect(coverageFault(await tail)).toBeUndefined()
      expect(coverageFault(await allItems(journal), { end: journal.head.seq })).toBeUndefined()
      expect(await journal.verify()).toMatchObject({ ok: true })
    })

    // Between two calls of a reader, another process may trim or the database may be slow.
    it.each([
      ['scan', 'for the first time'],
      ['scan', 'again'],
      ['holes', 'again'],
    ] as const)('hides and repeats nothing during a read, before its %s, %s', async (call, when) => {
      const fixture = await newStoreFixture(makeStore)
      const driver = interceptedDriver(fixture.driver())
      const journal = await (await fixture.open({ recent: { maxEntries: 0 } }, driver)).journal('a')
      await journal.append(messages(100))
      await journal.append([...numbers(1, 10).map((offset) => output('o', offset)), message('last')])
      if (when === 'again') await journal.trim({ events: 105 })
      for (const events of [80, 60, 30]) {
        driver.before(call, async () => void (await journal.trim({ events })))
        const page = await journal.read()
        expect(driver.unused).toEqual([])
        expect(coverageFault(page.events), `trimmed to ${events}`).toBeUndefined()
        const backwards = (await journal.read({ order: 'desc' })).events.toReversed()
        expect(coverageFault(backwards, { end: journal.head.seq })).toBeUndefined()
      }
    })

    it.each([
      ['scan', 'for the first time'],
      ['scan', 'again'],
      ['holes', 'again'],
    ] as const)('hides and repeats nothing during a tail, before its %s, %s', async (call, when) => {
      const fixture = await newStoreFixture(makeStore)
      const driver = interceptedDriver(fixture.driver())
      const journal = await (await fixture.open({ recent: { maxEntries: 0 } }, driver)).journal('a')
      await journal.append([...messages(1_500), ...numbers(1, 10).map((offset) => output('o', offset))])
      if (when === 'again') await journal.trim({ events: 1_505 })
      const tail = journal.tail()
      const items = [...(await take(tail, 5))]
      driver.before(call, async () => void (await journal.trim({ events: 100 })))
      await journal.append(messages(10))
      items.push(...(await takeTo(tail, journal.head.seq)))
      expect(driver.unused).toEqual([])
      expect(coverageFault(items)).toBeUndefined()
    })

    it.each([
      ['scan', 'for the first time'],
      ['scan', 'again'],
      ['holes', 'again'],
    ] as const)(
      'hides and repeats nothing when the owner trims before the %s of another reader, %s',
      async (call, when) => {
        const fixture = await newStoreFixture(makeStore)
        const journal = await (await fixture.open()).journal('a')
        const driver = interceptedDriver(fixture.driver())
        const reader = await (await fixture.readOnly({}, driver)).journal('a')
        await journal.append(messages(100))
        if (when === 'again') await journal.trim({ events: 90 })
        for (const events of [80, 60, 30]) {
          driver.before(call, async () => void (await journal.trim({ events })))
          const page = await reader.read()
          expect(driver.unused).toEqual([])
          expect(coverageFault(page.events), `trimmed to ${events}`).toBeUndefined()
        }
      },
    )
  })
}
