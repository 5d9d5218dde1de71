import { isGap, type JournalItem } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { coverageFault, eventsOf, numbers, seqsOf } from '../events/coverage.ts'
import { fileChanged, message, messages, output } from '../events/inputs.ts'
import { eventually } from '../waiting/within.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'
import { recordingSink } from './recording-sink.ts'

export function sinkCases(makeStore: MakeStore): void {
  describe('a sink', () => {
    it('gets all past events in order, then new ones', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const [a, b] = [await store.journal('a'), await store.journal('b')]
      await a.append(messages(3))
      await b.append(messages(2))
      const sink = recordingSink()
      await store.addSink('audit', sink)
      await a.append(messages(3))
      await store.flush()
      expect(sink.items).toEqual((await store.read()).events)
      expect(sink.mostAtOnce).toBe(1)
    })

    it('gets thousands of events in batches within its batch size', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append(messages(2_000))
      const sink = { ...recordingSink(), batchEvents: 300 }
      await store.addSink('audit', sink)
      await journal.append(messages(1_000))
      await store.flush()
      expect(seqsOf(sink.items)).toEqual(numbers(1, 3_000))
      expect(Math.max(...sink.batches.map(({ events }) => events.length))).toBeLessThanOrEqual(300)
    })

    it('gets only new events when it starts now, and only the requested types', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append([fileChanged('/old')])
      const sink = recordingSink()
      await store.addSink('files', sink, { from: 'now', types: ['file.*'] })
      await journal.append([message('no'), fileChanged('/new')])
      await store.flush()
      expect(sink.items).toMatchObject([{ type: 'file.changed', data: { path: '/new' } }])
    })

    it('continues at its cursor after reopening, in order and without loss', async () => {
      const fixture = await newStoreFixture(makeStore)
      let store = await fixture.open()
      const sinks = []
      for (const round of numbers(1, 4)) {
        const sink = recordingSink()
        sinks.push(sink)
        const journal = await store.journal('a')
        await journal.append(messages(5, `before ${round}`))
        await store.addSink('audit', sink)
        await store.flush()
        await journal.append(messages(5, `after ${round}`))
        store = await fixture.reopen(store)
      }
      const last = recordingSink()
      await store.addSink('audit', last)
      await store.flush()
      const seqs = [...sinks, last].flatMap(({ items }) => seqsOf(items))
      expect([...new Set(seqs)]).toEqual(numbers(1, 40))
    })

    it('gets unconfirmed events at least once after a crash', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      const sink = recordingSink()
      await first.addSink('audit', sink)
      const journal = await first.journal('a')
      await journal.append(messages(10))
      await first.flush()
      const { promise, resolve } = Promise.withResolvers<void>()
      sink.hold = promise
      await journal.append(messages(10))
      await eventually('a write to be under way', () => sink.batches.length > 1)
      await fixture.crash(first)
      const second = await fixture.open()
      const next = recordingSink()
      await second.addSink('audit', next)
      await second.flush()
      expect(seqsOf(next.items)).toEqual(numbers(11, 20))
      resolve()
    })

    it('gets the same batch with the same key until it accepts it', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const sink = recordingSink()
      sink.broken = new Error('no')
      await journal.append(messages(3))
      const added = await store.addSink('audit', sink)
      await eventually('two tries', () => sink.batches.length >= 2)
      expect(added.state).toMatchObject({ status: 'failing', kind: 'recording' })
      await journal.append(messages(3, 'later'))
      sink.broken = undefined
      await store.flush()
      const [firstTry, ...others] = sink.batches
      const again = others.filter(({ key }) => key === firstTry?.key)
      expect(again.length).toBeGreaterThan(0)
      for (const batch of again) expect(batch.events).toEqual(firstTry?.events)
      expect(seqsOf(sink.items.filter((item) => item.journal === 'a'))).toEqual(numbers(1, 6))
      expect(added.state.status).toBe('ok')
    })

    it('affects no other sink and no append when it fails, and its failure is recorded', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const [good, bad] = [recordingSink(), recordingSink()]
      bad.broken = new Error('the disk of the sink is full')
      const failing = await store.addSink('bad', bad)
      await store.addSink('good', good)
      for (const _round of numbers(1, 20)) await journal.append(messages(5))
      await eventually(
        'the good sink to have it all',
        () => seqsOf(ofJournal(good.items, 'a')).length === 100,
      )
      expect(seqsOf(ofJournal(good.items, 'a'))).toEqual(numbers(1, 100))
      expect(bad.items).toEqual([])
      bad.broken = undefined
      await store.flush()
      expect(seqsOf(ofJournal(bad.items, 'a'))).toEqual(numbers(1, 100))
      await eventually('the recovery to be recorded', async () => {
        const record = eventsOf((await (await store.journal('host')).read()).events)
        return record.some(({ type, data }) => type === 'sink.recovered' && data.sink === 'bad')
      })
      const record = eventsOf((await (await store.journal('host')).read()).events)
      expect(record.map(({ type }) => type)).toEqual(['sink.failed', 'sink.recovered'])
      expect(record[0]?.data).toMatchObject({ sink: 'bad', errorMessage: 'the disk of the sink is full' })
      expect(failing.state.status).toBe('ok')
    })

    it('delays only itself when its write never settles', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const [stuck, good] = [recordingSink(), recordingSink()]
      const { promise, resolve } = Promise.withResolvers<void>()
      stuck.hold = promise
      await store.addSink('stuck', stuck)
      await store.addSink('good', good)
      for (const _round of numbers(1, 10)) await journal.append(messages(5))
      await eventually('the good sink to have it all', () => good.items.length === 50)
      expect(stuck.batches).toHaveLength(1)
      resolve()
      await store.flush()
      expect(seqsOf(stuck.items)).toEqual(numbers(1, 50))
    })

    it('is waited for by flush, which names a late sink', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const sink = recordingSink()
      sink.broken = new Error('offline')
      await store.addSink('slow one', sink)
      await journal.append(messages(2))
      await expect(store.flush({ timeoutMs: 150 })).rejects.toMatchObject({
        code: 'timeout',
        message: expect.stringContaining('slow one'),
      })
      await expect(store.flush({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
      sink.broken = undefined
      await journal.flush()
      expect(seqsOf(ofJournal(sink.items, 'a'))).toEqual([1, 2])
    })

    it('needs a unique name', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const first = await store.addSink('audit', recordingSink())
      await expect(store.addSink('audit', recordingSink())).rejects.toMatchObject({ code: 'sink_exists' })
      await expect(store.addSink('', recordingSink())).rejects.toMatchObject({ code: 'argument_invalid' })
      await first.close()
      await store.addSink('audit', recordingSink())
    })

    it('needs a unique name, even if two are added concurrently', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const [one, other] = [recordingSink(), recordingSink()]
      const results = await Promise.allSettled([store.addSink('audit', one), store.addSink('audit', other)])
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
      await (await store.journal('a')).append(messages(1))
      await store.flush()
      expect([one.items.length, other.items.length]).toEqual([1, 0])
    })

    it('keeps its cursor while it is closed', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append(messages(3))
      const first = recordingSink()
      const added = await store.addSink('audit', first)
      await store.flush()
      await added.close()
      expect(added.state.status).toBe('closed')
      await journal.append(messages(3))
      const second = recordingSink()
      await store.addSink('audit', second)
      await store.flush()
      expect([seqsOf(first.items), seqsOf(second.items)]).toEqual([
        [1, 2, 3],
        [4, 5, 6],
      ])
    })

    it('gets a gap for events that were trimmed before it was added', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      const journal = await first.journal('a')
      await journal.append([...messages(20), ...numbers(1, 20).map((offset) => output('o', offset))])
      await journal.trim({ events: 25 })
      const store = await fixture.reopen(first)
      const sink = recordingSink()
      await store.addSink('audit', sink)
      await store.flush()
      expect(sink.items.some(isGap)).toBe(true)
      expect(coverageFault(sink.items, { end: (await store.journal('a')).head.seq })).toBeUndefined()
    })

    it('gets less data with a policy, and the journal keeps all', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const sink = recordingSink()
      await store.addSink('narrow', sink, { policy: { output: false, paths: false } })
      await journal.append([output('secret output'), fileChanged('/private')])
      await store.flush()
      expect(JSON.stringify(sink.items)).not.toMatch(/secret output|private/)
      expect(JSON.stringify((await journal.read()).events)).toMatch(/secret output.*private/)
    })

    it('is listed with its state in store.sinks', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      await store.addSink('one', recordingSink())
      await store.addSink('two', recordingSink())
      await (await store.journal('a')).append(messages(1))
      await store.flush()
      expect(store.sinks).toMatchObject([
        { name: 'one', status: 'ok', lag: 0 },
        { name: 'two', status: 'ok', lag: 0 },
      ])
    })
  })
}

function ofJournal(items: readonly JournalItem[], journal: string): JournalItem[] {
  return items.filter((item) => item.journal === journal)
}
