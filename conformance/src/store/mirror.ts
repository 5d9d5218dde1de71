import type { ExportedItem, Journal } from '@vitrine/journal'
import { isGap, type JournalItem, parseEvent } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { interceptedDriver } from '../drivers/intercepted-driver.ts'
import { coverageFault, numbers, seqsOf } from '../events/coverage.ts'
import { hostilePayloads } from '../events/hostile-payloads.ts'
import { message, messages, output, work } from '../events/inputs.ts'
import { take, takeTo } from '../waiting/take.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'
import { recordingSink } from './recording-sink.ts'

export function mirrorCases(makeStore: MakeStore): void {
  describe('a mirror', () => {
    it('has the same events, seqs and hashes', async () => {
      const { source, mirror, fixture } = await pair(makeStore)
      await source.append(
        hostilePayloads.map(([, data]) => ({ type: 'foreign.event', data: { type: 'x', data } })),
      )
      await source.append(messages(20))
      await copy(source, mirror)
      expect((await mirror.read()).events).toStrictEqual((await source.read()).events)
      expect(mirror.head).toEqual(source.head)
      expect(await mirror.verify({ head: source.head })).toMatchObject({ ok: true })
      const again = await (await fixture.reopen(await fixture.current())).journal('a')
      expect(again.head).toEqual(source.head)
      expect(await again.verify({ head: source.head })).toMatchObject({ ok: true })
    })

    it.each([1, 3, 1_000])('can be filled repeatedly in pages of %i with the same result', async (limit) => {
      const { source, mirror } = await pair(makeStore)
      await source.append(messages(10))
      for (let round = 0; round < 3; round += 1) await copy(source, mirror, limit)
      await mirror.import(await source.export())
      await mirror.import(await source.export({ after: 4 }))
      expect((await mirror.read()).events).toEqual((await source.read()).events)
      await source.append(messages(5))
      await copy(source, mirror, limit)
      expect(mirror.head).toEqual(source.head)
    })

    it('delivers imported events to its live readers', async () => {
      const { source, mirror, fixture } = await pair(makeStore)
      const tail = mirror.tail()
      const storeTail = (await fixture.current()).tail()
      const sink = recordingSink()
      await (await fixture.current()).addSink('audit', sink)
      await source.append(messages(5))
      await copy(source, mirror)
      expect(seqsOf(await take(tail, 5))).toEqual(numbers(1, 5))
      expect(seqsOf(await take(storeTail, 5))).toEqual(numbers(1, 5))
      await mirror.flush()
      expect(seqsOf(sink.items)).toEqual(numbers(1, 5))
    })

    it('rejects items that do not continue it, and stores none of them', async () => {
      const { source, mirror, other } = await pair(makeStore)
      await source.append(messages(10))
      await other.append(messages(3, 'another history'))
      const items = await source.export()
      await mirror.import(items.slice(0, 3))
      const diverged = { code: 'journal_diverged' }
      await expect(mirror.import(items.slice(5))).rejects.toMatchObject(diverged)
      await expect(mirror.import([...items.slice(3, 5), ...items.slice(7)])).rejects.toMatchObject(diverged)
      await expect(mirror.import([changed(items[3])])).rejects.toMatchObject(diverged)
      await expect(other.import(items)).rejects.toMatchObject(diverged)
      expect(seqsOf((await mirror.read()).events)).toEqual([1, 2, 3])
      await mirror.import(items)
      expect(mirror.head).toEqual(source.head)
    })

    it('rejects events of another journal', async () => {
      const { source, fixture } = await pair(makeStore)
      await source.append(messages(2))
      const wrong = await (await fixture.current()).journal('b')
      await expect(wrong.import(await source.export())).rejects.toMatchObject({ code: 'journal_diverged' })
    })

    it('does not track work that is open in its source', async () => {
      const { source, mirror, fixture } = await pair(makeStore)
      await source.append([work.process('p').start, ...messages(2)])
      await copy(source, mirror)
      const again = await (await fixture.reopen(await fixture.current())).journal('a')
      expect(seqsOf((await again.read()).events)).toEqual([1, 2, 3])
      await source.append([work.process('p').end])
      await copy(source, again)
      expect(again.head).toEqual(source.head)
    })

    it('has the same holes', async () => {
      const { source, mirror, fixture } = await trimmedPair(makeStore)
      await copy(source, mirror, 4)
      expect(mirror.head).toEqual(source.head)
      const items = withoutCursors((await mirror.read()).events)
      expect(items.some(isGap)).toBe(true)
      expect(items).toEqual(withoutCursors((await source.read()).events))
      expect(await mirror.verify({ head: source.head })).toMatchObject({ ok: true })
      const again = await (await fixture.reopen(await fixture.current())).journal('a')
      expect(withoutCursors(await takeTo(again.tail(), again.head.seq))).toEqual(items)
      await source.append(messages(3))
      await copy(source, again)
      expect(again.head).toEqual(source.head)
    })

    it('reports the holes to its live readers', async () => {
      const { source, mirror } = await pair(makeStore, { recent: { maxEntries: 0 } })
      const tail = mirror.tail()
      await source.append(messages(4))
      await copy(source, mirror)
      const items = [...(await take(tail, 4))]
      await source.append([...numbers(1, 20).map((offset) => output('o', offset)), ...messages(4)])
      await source.trim({ events: 9 })
      await copy(source, mirror)
      items.push(...(await takeTo(tail, source.head.seq)))
      expect(coverageFault(items, { end: source.head.seq })).toBeUndefined()
      expect(items.some(isGap)).toBe(true)
      await source.append(messages(3))
      await copy(source, mirror)
      expect(seqsOf(await take(tail, 3))).toEqual(numbers(source.head.seq - 2, source.head.seq))
    })

    it('reports a hole at the end of an import to its live readers and sinks', async () => {
      const { source, mirror, fixture } = await pair(makeStore, { recent: { maxEntries: 0 } })
      const store = await fixture.current()
      const [tail, storeTail, sink] = [mirror.tail(), store.tail(), recordingSink()]
      await store.addSink('audit', sink)
      await source.append(messages(4))
      await copy(source, mirror)
      await take(tail, 4)
      await take(storeTail, 4)
      await source.append([...numbers(1, 20).map((offset) => output('o', offset)), ...messages(4)])
      await source.trim({ events: 9 })
      const [hole] = await source.export({ after: 4 })
      await mirror.import(hole ? [hole] : [])
      expect((await take(tail, 1)).some(isGap)).toBe(true)
      expect((await take(storeTail, 1)).some(isGap)).toBe(true)
      await store.flush()
      expect(coverageFault(sink.items, { end: mirror.head.seq })).toBeUndefined()
    })

    it('reports the holes to live and later readers of the whole store', async () => {
      const { source, mirror, fixture } = await trimmedPair(makeStore)
      const store = await fixture.current()
      const tail = store.tail()
      await copy(source, mirror, 4)
      const expected = withoutCursors((await source.read()).events)
      expect(withoutCursors((await store.read()).events)).toEqual(expected)
      expect(withoutCursors(await takeTo(tail, source.head.seq))).toEqual(expected)
    })

    it('keeps its events where the source has a hole', async () => {
      const { source, mirror } = await pair(makeStore, { recent: { maxEntries: 0 } })
      await source.append([
        ...messages(5),
        ...numbers(1, 20).map((offset) => output('o', offset)),
        ...messages(5),
      ])
      await mirror.import(await source.export({ limit: 15 }))
      await source.trim({ events: 15 })
      await mirror.import(await source.export({ after: 0 }))
      expect(mirror.head).toEqual(source.head)
      expect(seqsOf((await mirror.read()).events).slice(0, 15)).toEqual(numbers(1, 15))
      expect(await mirror.verify({ head: source.head })).toMatchObject({ ok: true })
    })

    it('can be filled while its source is written and trimmed', async () => {
      const { source, mirror } = await pair(makeStore, { recent: { maxEntries: 0 } })
      for (const round of numbers(1, 10)) {
        await source.append([...messages(10), ...numbers(1, 10).map((offset) => output('o', offset))])
        if (round % 3 === 0) await source.trim({ events: 40 })
        await copy(source, mirror, 7)
        expect(mirror.head).toEqual(source.head)
      }
      expect(await mirror.verify({ head: source.head })).toMatchObject({ ok: true })
    })

    it('gets a hole as a whole that grows beyond the end of its source while it is exported', async () => {
      const there = await newStoreFixture(makeStore)
      const driver = interceptedDriver(there.driver())
      const source = await (await there.open({ recent: { maxEntries: 0 } }, driver)).journal('a')
      const mirror = await (await (await newStoreFixture(makeStore)).open()).journal('a')
      await source.append([...messages(4), ...numbers(1, 10).map((offset) => output('o', offset))])
      driver.before('holes', async () => {
        await source.append([...numbers(11, 20).map((offset) => output('o', offset)), ...messages(4)])
        await source.trim({ events: 9 })
      })
      await copy(source, mirror)
      expect(driver.unused).toEqual([])
      expect(mirror.head).toEqual(source.head)
      expect(withoutCursors((await mirror.read()).events)).toEqual(
        withoutCursors((await source.read()).events),
      )
      expect(await mirror.verify({ head: source.head })).toMatchObject({ ok: true })
    })

    it('follows its source after retention has trimmed the mirror', async () => {
      const { source, mirror } = await pair(makeStore)
      await source.append(messages(30))
      await copy(source, mirror)
      await mirror.trim({ events: 10 })
      await source.append([message('next')])
      await copy(source, mirror)
      expect(mirror.head).toEqual(source.head)
    })
  })
}

async function pair(makeStore: MakeStore, options = {}) {
  const there = await newStoreFixture(makeStore)
  const here = await newStoreFixture(makeStore)
  const elsewhere = await newStoreFixture(makeStore)
  const [source, store] = [await (await there.open(options)).journal('a'), await here.open()]
  const mirror = await store.journal('a')
  const other = await (await elsewhere.open()).journal('a')
  return { source, mirror, other, fixture: { current: async () => store, reopen: here.reopen } }
}

/** A source with holes at its beginning and in its middle, whose events are no longer cached. */
async function trimmedPair(makeStore: MakeStore) {
  const made = await pair(makeStore, { recent: { maxEntries: 0 } })
  const { source } = made
  for (const number of numbers(1, 5)) {
    await source.append([output('o', number), output('o', number), message('m'), message('m')])
  }
  await source.trim({ events: 14 })
  await source.append(messages(3))
  return made
}

/** Copies everything that the mirror does not have yet. */
async function copy(source: Journal, mirror: Journal, limit = 1_000): Promise<void> {
  for (;;) {
    const items = await source.export({ after: mirror.head.seq, limit })
    if (items.length === 0) return
    const before = mirror.head.seq
    await mirror.import(items)
    if (mirror.head.seq === before) throw new Error(`Expected the import to continue after ${before}.`)
  }
}

function changed(item: ExportedItem | undefined): ExportedItem {
  if (item === undefined || 'hole' in item) throw new Error('Expected an event to change.')
  return { ...item, event: parseEvent({ ...item.event, data: { level: 'info', message: 'forged' } }) }
}

/** A mirror has the same gaps, but its own cursors. */
function withoutCursors(items: readonly JournalItem[]): JournalItem[] {
  return items.map((item) => (isGap(item) ? { ...item, data: { ...item.data, cursor: '' } } : item))
}
