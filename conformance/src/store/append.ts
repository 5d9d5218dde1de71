import type { EventInput } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { interceptedDriver } from '../drivers/intercepted-driver.ts'
import { eventsOf, numbers, seqsOf } from '../events/coverage.ts'
import { hostilePayloads } from '../events/hostile-payloads.ts'
import { message, messages, work } from '../events/inputs.ts'
import { background } from '../waiting/background.ts'
import { take } from '../waiting/take.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'

export function appendCases(makeStore: MakeStore): void {
  describe('append', () => {
    it('numbers each journal 1, 2, 3 …, independently of other journals', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journals = await Promise.all(['host', 'sbx_a', 'sbx_b', 'loop_c'].map((id) => store.journal(id)))
      for (let round = 0; round < 10; round += 1) {
        await Promise.all(
          journals.map((journal, index) => journal.append(messages(index + 1, `round ${round}`))),
        )
      }
      for (const [index, journal] of journals.entries()) {
        expect(seqsOf((await journal.read()).events)).toEqual(numbers(1, 10 * (index + 1)))
      }
    })

    it('opens one journal for concurrent requests', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const handles = await Promise.all(numbers(1, 5).map(() => store.journal('a')))
      const tails = handles.map((journal) => background(take(journal.tail(), 10)))
      for (const round of [1, 2]) {
        for (const [index, journal] of handles.entries()) {
          expect(seqsOf(await journal.append(messages(1)))).toEqual([(round - 1) * 5 + index + 1])
        }
      }
      for (const items of await Promise.all(tails)) expect(seqsOf(items)).toEqual(numbers(1, 10))
    })

    it('continues with the next seq after closing, a crash and a takeover', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      await (await first.journal('a')).append(messages(3))
      const second = await fixture.reopen(first)
      await (await second.journal('a')).append(messages(2))
      await fixture.crash(second)
      const third = await fixture.open()
      await (await third.journal('a')).append(messages(2))
      const fourth = await fixture.open({ takeover: true })
      const journal = await fourth.journal('a')
      expect(seqsOf(await journal.append(messages(2)))).toEqual([8, 9])
      expect(seqsOf((await journal.read()).events)).toEqual(numbers(1, 9))
    })

    it('resolves only once another connection can read the events', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const other = await (await fixture.readOnly()).journal('a')
      for (let round = 1; round <= 20; round += 1) {
        const appended = await journal.append(messages(3))
        const { events } = await other.read({ after: journal.cursor({ seq: (round - 1) * 3 }) })
        expect(events).toEqual(appended)
      }
    })

    it('keeps acknowledged events when its host crashes right afterwards', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const appended = await (await store.journal('a')).append(messages(5))
      await fixture.crash(store)
      const again = await (await fixture.open()).journal('a')
      expect((await again.read()).events).toEqual(appended)
    })

    it('rejects and stores nothing when its host crashes before the commit', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append(messages(2))
      await fixture.crash(store, 'before the next commit')
      await expect(journal.append(messages(3))).rejects.toMatchObject({ code: 'store_unavailable' })
      const again = await (await fixture.open()).journal('a')
      expect(seqsOf((await again.read()).events)).toEqual([1, 2])
    })

    it('publishes an event only after the store has committed it', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const other = await (await fixture.readOnly()).journal('a')
      const stored: Promise<boolean>[] = []
      const isStored = async (seq: number) =>
        eventsOf((await other.read({ at: seq, limit: 1 })).events).some((event) => event.seq === seq)
      journal.tap((event) => void stored.push(isStored(event.seq)))
      for (let round = 0; round < 10; round += 1) await journal.append(messages(5))
      expect(stored).toHaveLength(50)
      expect(new Set(await Promise.all(stored))).toEqual(new Set([true]))
    })

    it('rejects a whole batch with a malformed event and names the field', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await journal.append(messages(1))
      const malformed: EventInput = { type: 'log.message', data: { level: 'loud', message: 'x' } }
      await expect(journal.append([message('good'), malformed, message('good')])).rejects.toMatchObject({
        code: 'event_invalid',
        details: { path: 'events[1].data.level' },
      })
      expect(seqsOf(await journal.append(messages(1)))).toEqual([2])
      expect(seqsOf((await journal.read()).events)).toEqual([1, 2])
    })

    it('rejects a whole batch with an unknown event type', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await expect(journal.append([message('good'), { type: 'made.up', data: {} }])).rejects.toMatchObject({
        code: 'event_type_unknown',
        details: { path: 'events[1].type' },
      })
      expect((await journal.read()).events).toEqual([])
    })

    it('commits other batches of the same tick when one is rejected', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      const results = await Promise.allSettled([
        journal.append(messages(2, 'before')),
        journal.append([message('with it'), work.operation('op_never').end]),
        journal.append(messages(2, 'after')),
      ])
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      const { events } = await journal.read()
      expect(seqsOf(events)).toEqual([1, 2, 3, 4])
      expect(eventsOf(events).map(({ data }) => data.message)).toEqual([
        'before 1',
        'before 2',
        'after 1',
        'after 2',
      ])
    })

    it('keeps the order of appends that are not awaited', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      const pending = numbers(1, 500).map((number) => journal.append([message(String(number))]))
      await Promise.all(pending)
      const { events } = await journal.read()
      expect(eventsOf(events).map(({ data }) => data.message)).toEqual(numbers(1, 500).map(String))
    })

    it('commits a batch larger than one transaction completely and in order', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      expect(seqsOf(await journal.append(messages(2_500)))).toEqual(numbers(1, 2_500))
      expect(seqsOf((await journal.read({ limit: 10_000 })).events)).toEqual(numbers(1, 2_500))
    })

    it('commits the appends of one tick together', async () => {
      const fixture = await newStoreFixture(makeStore)
      const driver = interceptedDriver(fixture.driver())
      const store = await fixture.open({}, driver)
      const [a, b] = [await store.journal('a'), await store.journal('b')]
      await Promise.all([
        ...messages(50).map((one) => a.append([one])),
        ...messages(50).map((one) => b.append([one])),
      ])
      expect(driver.calls.get('commit')).toBe(1)
    })

    it('writes nothing and creates no journal for an empty batch', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      expect(await (await store.journal('empty')).append([])).toEqual([])
      await (await store.journal('a')).append(messages(1))
      expect(await store.journals()).toEqual(['a'])
    })

    it('adds the context of its handle, and fields of the event win', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a', {
        source: 'engine',
        actor: 'ada',
        sandbox: 'sbx_1',
      })
      const [plain, own] = await journal
        .as({ session: 'ses_1' })
        .append([message('x'), { ...message('y'), actor: 'bob' }])
      expect(plain).toMatchObject({ source: 'engine', actor: 'ada', sandbox: 'sbx_1', session: 'ses_1' })
      expect(own).toMatchObject({ source: 'engine', actor: 'bob', sandbox: 'sbx_1', session: 'ses_1' })
    })

    it('never decreases the time within a journal', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      for (let round = 0; round < 20; round += 1) await journal.append(messages(2))
      const times = eventsOf((await journal.read()).events).map(({ time }) => Date.parse(time))
      expect(times).toEqual(times.toSorted((a, b) => a - b))
    })

    it('rejects appends beyond the pending limit and commits all others', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open({ maxPendingBytes: 20_000 })).journal('a')
      const results = await Promise.allSettled(
        numbers(1, 200).map((number) => journal.append([message(`${number}`)])),
      )
      const accepted = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
      const refused = results.filter((result) => result.status === 'rejected')
      expect(refused.length).toBeGreaterThan(0)
      for (const { reason } of refused) expect(reason).toMatchObject({ code: 'journal_overloaded' })
      expect((await journal.read()).events).toEqual(accepted)
      expect(seqsOf(await journal.append(messages(1)))).toEqual([accepted.length + 1])
    })

    it.each(hostilePayloads)('returns %s unchanged, now and after reopening', async (_name, payload) => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const appended = await journal.append([
        { type: 'foreign.event', data: { type: 'nasty', data: payload } },
      ])
      expect(appended[0]?.data.data).toStrictEqual(payload)
      expect((await journal.read()).events).toStrictEqual(appended)
      const again = await (await fixture.reopen(store)).journal('a')
      expect((await again.read()).events).toStrictEqual(appended)
      expect(await again.verify()).toMatchObject({ ok: true })
    })

    it.each([
      ['NUL', 'a\0b'],
      ['a lone surrogate', 'a\ud800b'],
      ['an emoji', '🧪'],
      ['quotes', '"\'`\\'],
    ])('keeps %s in an indexed field, or rejects it', async (_name, text) => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const appended = await journal
        .append([{ ...message('x'), session: text, run: text }])
        .catch(expectInvalid)
      const again = await (await fixture.reopen(store)).journal('a')
      expect((await again.read({ session: text, run: text })).events).toEqual(appended)
      expect(await again.verify()).toMatchObject({ ok: true })
    })

    it('returns deeply frozen events', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const deep: EventInput = {
        type: 'foreign.event',
        trace: { traceId: '1'.repeat(32), spanId: '2'.repeat(16) },
        data: { type: 'x', data: { list: [{ inner: {} }], map: { a: { b: [] } } } },
      }
      const appended = await journal.append([deep])
      const { value: tailed } = await journal.tail().next()
      const again = await (await fixture.reopen(store)).journal('a')
      const read = (await again.read()).events
      for (const event of [...appended, tailed, ...read]) expect(unfrozenIn(event)).toEqual([])
    })

    it('does not change its input, and later changes of the input have no effect', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      const data = { type: 'x', data: { list: [1], inner: { value: 'before' } } }
      const pending = journal.append([{ type: 'foreign.event', data }])
      data.data.inner.value = 'after'
      data.data.list.push(2)
      const [event] = await pending
      expect(event?.data.data).toEqual({ list: [1], inner: { value: 'before' } })
      expect((await journal.read()).events).toEqual([event])
      expect(Object.isFrozen(data)).toBe(false)
    })
  })
}

/** For a text that a store may reject, but must not store changed. */
function expectInvalid(error: unknown): [] {
  expect(error).toMatchObject({ code: 'event_invalid' })
  return []
}

/** The paths of all values that are not frozen. */
function unfrozenIn(value: unknown, path = 'event'): string[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, field]) => unfrozenIn(field, `${path}.${key}`))
  return Object.isFrozen(value) ? inner : [path, ...inner]
}
