import { describe, expect, it } from 'vitest'
import { failingDriver } from '../drivers/failing-driver.ts'
import { eventsOf, numbers, seqsOf } from '../events/coverage.ts'
import { messages, work } from '../events/inputs.ts'
import { eventually, withTimeLimit } from '../waiting/within.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'
import { recordingSink } from './recording-sink.ts'

export function failingCases(makeStore: MakeStore): void {
  describe('a store whose disk is full', () => {
    it('rejects new events, keeps old ones, and recovers by itself', async () => {
      const { store, disk, journal } = await onDisk(makeStore)
      await journal.append(messages(3))
      disk.full = true
      await expect(journal.append(messages(1))).rejects.toMatchObject({ code: 'store_failing' })
      expect(store.health).toMatchObject({ status: 'failing', error: { code: 'store_failing' } })
      await expect(journal.append(messages(1))).rejects.toMatchObject({ code: 'store_failing' })
      expect(seqsOf((await journal.read()).events)).toEqual([1, 2, 3])
      disk.full = false
      await eventually('the store to be well again', () => store.health.status === 'ok')
      expect(seqsOf(await journal.append(messages(1)))).toEqual([4])
    })

    it('queues end events in order and commits them once', async () => {
      const { store, disk, journal } = await onDisk(makeStore)
      const ids = numbers(1, 5).map((number) => `p_${number}`)
      await journal.append(ids.map((id) => work.process(id).start))
      disk.full = true
      const ends = ids.map((id) => journal.append([work.process(id).end]))
      await expect(journal.append(messages(1))).rejects.toMatchObject({ code: 'store_failing' })
      disk.full = false
      expect(seqsOf((await withTimeLimit('the endings', Promise.all(ends))).flat())).toEqual(numbers(6, 10))
      await eventually('the store to be well again', () => store.health.status === 'ok')
      await expect(journal.append([work.process('p_1').end])).rejects.toMatchObject({ code: 'work_not_open' })
    })

    it('queues end events up to a limit', async () => {
      const { disk, journal } = await onDisk(makeStore, { maxPendingEndings: 3 })
      const ids = numbers(1, 6).map((number) => `p_${number}`)
      await journal.append(ids.map((id) => work.process(id).start))
      disk.full = true
      await expect(journal.append(messages(1))).rejects.toMatchObject({ code: 'store_failing' })
      const ends = ids.map((id) => journal.append([work.process(id).end]))
      const settled = Promise.allSettled(ends)
      disk.full = false
      const outcomes = (await withTimeLimit('the endings', settled)).map(({ status }) => status)
      expect(outcomes).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected', 'rejected'])
    })

    it('records afterwards that the disk was full', async () => {
      const { store, disk, journal } = await onDisk(makeStore)
      disk.full = true
      await expect(journal.append(messages(1))).rejects.toMatchObject({ code: 'store_failing' })
      disk.full = false
      const host = await store.journal('host')
      await eventually('the record of it', async () =>
        eventsOf((await host.read()).events).some(
          ({ type, data }) => type === 'limit.reached' && data.limit === 'disk',
        ),
      )
    })

    it('delays its sinks, which lose nothing', async () => {
      const { store, disk, journal } = await onDisk(makeStore)
      const sink = recordingSink()
      await store.addSink('audit', sink)
      await journal.append(messages(3))
      await store.flush()
      disk.full = true
      await expect(journal.append(messages(1))).rejects.toMatchObject({ code: 'store_failing' })
      disk.full = false
      await eventually('the store to be well again', () => store.health.status === 'ok')
      await journal.append(messages(2))
      await store.flush()
      expect(seqsOf(sink.items.filter((item) => item.journal === 'a'))).toEqual(numbers(1, 5))
    })

    it('can be closed and rejects the queued end events', async () => {
      const { store, disk, journal, scene: fixture } = await onDisk(makeStore)
      await journal.append([work.process('p').start])
      disk.full = true
      const end = journal.append([work.process('p').end]).catch((error: unknown) => error)
      await eventually('the store to fail', () => store.health.status === 'failing')
      await withTimeLimit('the store to close', store.close(), 10_000)
      expect(await withTimeLimit('the end event to be rejected', end, 1_000)).toMatchObject({
        code: 'store_closed',
      })
      const again = await (await fixture.open()).journal('a')
      expect(eventsOf((await again.read()).events)[1]).toMatchObject({ data: { outcome: 'interrupted' } })
    })
  })
}

async function onDisk(makeStore: MakeStore, options = {}) {
  const fixture = await newStoreFixture(makeStore)
  const disk = failingDriver(fixture.driver())
  const store = await fixture.open(options, disk)
  return { scene: fixture, store, disk, journal: await store.journal('a') }
}
