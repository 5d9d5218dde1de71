import type { JournalEvent } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { numbers, seqsOf } from '../events/coverage.ts'
import { fileChanged, message, messages } from '../events/inputs.ts'
import { eventually } from '../waiting/within.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'

export function tapCases(makeStore: MakeStore): void {
  describe('a tap', () => {
    it('gets new commits of its own journal in order', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const [journal, other] = [await store.journal('a'), await store.journal('b')]
      await journal.append(messages(2))
      const seen: JournalEvent[] = []
      const off = journal.tap((event) => void seen.push(event))
      await Promise.all([
        journal.append(messages(30)),
        other.append(messages(30)),
        journal.append(messages(30)),
      ])
      await eventually('the tap to have seen all', () => seen.length === 60)
      expect(seen).toEqual((await journal.read({ at: 3 })).events)
      expect([off.delivered, off.errors, off.dropped]).toEqual([60, 0, 0])
    })

    it('gets only the requested types until it is removed', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      const seen: JournalEvent[] = []
      const off = journal.tap((event) => void seen.push(event), { types: ['file.*'] })
      await journal.append([message('x'), fileChanged('/a')])
      off()
      await journal.append([fileChanged('/b')])
      expect(seen.map(({ data }) => data.path)).toEqual(['/a'])
    })

    it('gets copies, which it can change without effect', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      const seen: unknown[] = []
      const off = journal.tap((event) => {
        Object.assign(event, { seq: 99, type: 'changed' })
        Object.assign(event.data, { message: 'changed' })
      })
      journal.tap((event) => void seen.push(event.data.message))
      const appended = await journal.append([message('as it was')])
      expect(off.errors).toBe(0)
      expect(seen).toEqual(['as it was'])
      expect(appended).toMatchObject([{ seq: 1, type: 'log.message', data: { message: 'as it was' } }])
      expect((await journal.read()).events).toEqual(appended)
      expect(await journal.verify()).toMatchObject({ ok: true })
    })

    it('affects nothing when it throws, rejects or never settles', async () => {
      const fixture = await newStoreFixture(makeStore)
      const reported: unknown[] = []
      const store = await fixture.open({ onObserverError: (error) => void reported.push(error) })
      const journal = await store.journal('a')
      const taps = [
        journal.tap(() => {
          throw new Error('thrown')
        }),
        journal.tap(() => Promise.reject(new Error('rejected'))),
        journal.tap(() => new Promise(() => {})),
        journal.tap(() => new Promise(() => {}), { ordered: true, queue: 5 }),
      ]
      const seen: JournalEvent[] = []
      journal.tap((event) => void seen.push(event))
      for (const _round of numbers(1, 10)) await journal.append(messages(2))
      // The 20 events, and one message about all these errors.
      await eventually('the taps to have seen all', () => seen.length === 21 && reported.length === 42)
      const { events } = await journal.read()
      expect(seqsOf(events)).toEqual(numbers(1, 21))
      expect(seqsOf(seen)).toEqual(numbers(1, 21))
      expect(events.filter(({ data }) => 'observer' in data)).toMatchObject([
        { type: 'log.message', data: { level: 'error', observer: 'tap', errors: 1 } },
      ])
      expect(taps.map(({ errors, dropped }) => [errors, dropped])).toEqual([
        [21, 0],
        [21, 0],
        [0, 0],
        [0, 15],
      ])
      await store.flush()
    })

    it('affects nothing when its error handler throws too', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open({
        onObserverError: () => {
          throw new Error('the observer of the observer')
        },
      })
      const journal = await store.journal('a')
      journal.tap(() => {
        throw new Error('the observer')
      })
      expect(seqsOf(await journal.append(messages(2)))).toEqual([1, 2])
    })

    it('waits for each call before the next when ordered', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      const log: string[] = []
      journal.tap(
        async ({ seq }) => {
          log.push(`begin ${seq}`)
          await new Promise((resolve) => setTimeout(resolve, 2))
          log.push(`end ${seq}`)
        },
        { ordered: true },
      )
      await journal.append(messages(5))
      await eventually('the last call to end', () => log.length === 10)
      expect(log).toEqual(numbers(1, 5).flatMap((seq) => [`begin ${seq}`, `end ${seq}`]))
    })

    it('may append events itself', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      journal.tap(async () => void (await journal.append([fileChanged('/echo')])), { types: ['log.message'] })
      await journal.append(messages(3))
      await eventually(
        'the echoes',
        async () => (await journal.read({ types: ['file.*'] })).events.length === 3,
      )
      expect(seqsOf((await journal.read()).events)).toEqual(numbers(1, 6))
    })

    it('is rejected when it is not a function', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      expect(() => journal.tap(JSON.parse('{}'))).toThrow(
        expect.objectContaining({ code: 'argument_invalid' }),
      )
    })
  })
}
