import { setTimeout as sleep } from 'node:timers/promises'
import type { JournalItem } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { eventsOf, numbers, seqsOf } from '../events/coverage.ts'
import { fileChanged, message, messages } from '../events/inputs.ts'
import { background } from '../waiting/background.ts'
import { take, takeTo } from '../waiting/take.ts'
import { withTimeLimit } from '../waiting/within.ts'
import { type MakeWriterAndReader, newReaderFixture } from './fixture.ts'

export function tailCases(make: MakeWriterAndReader): void {
  describe('tail', () => {
    it('yields past and then new events, without gap or duplicate', async () => {
      const { writer, reader } = await newReaderFixture(make)
      await writer.append(messages(20))
      const tail = (await reader()).tail()
      expect(seqsOf(await take(tail, 20))).toEqual(numbers(1, 20))
      for (const round of numbers(1, 10)) {
        await writer.append(messages(3))
        expect(seqsOf(await take(tail, 3))).toEqual(numbers(20 + round * 3 - 2, 20 + round * 3))
      }
    })

    it('waits on an empty journal for its first event', async () => {
      const { writer, reader } = await newReaderFixture(make)
      const tail = (await reader()).tail()
      const first = background(take(tail, 1))
      await writer.append(messages(1))
      expect(seqsOf(await first)).toEqual([1])
    })

    it('yields the same events that append resolved with', async () => {
      const { writer, reader } = await newReaderFixture(make)
      const tail = (await reader()).tail()
      const appended = await writer.append([...messages(2), fileChanged('/a')])
      expect(await take(tail, 3)).toEqual(appended)
      expect((await (await reader()).read()).events).toEqual(appended)
    })

    it('is complete when it is opened in the middle of a burst', async () => {
      const { writer, reader } = await newReaderFixture(make)
      let bursting = true
      const write = async () => {
        while (bursting) await Promise.all(messages(7).map((one) => writer.append([one])))
      }
      const burst = background(write())
      const tails: Promise<readonly JournalItem[]>[] = []
      for (const _round of numbers(1, 10)) {
        tails.push(background(takeTo((await reader()).tail(), 400)))
        await sleep(3)
      }
      const seen = await Promise.all(tails)
      bursting = false
      await burst
      for (const items of seen) expect(seqsOf(items)).toEqual(numbers(1, items.length))
    })

    it('yields the same events in the same order to every reader', async () => {
      const { writer, reader } = await newReaderFixture(make)
      const readers = await Promise.all(numbers(1, 20).map(() => reader()))
      const seen = readers.map((one) => background(takeTo(one.tail(), 300)))
      for (const _round of numbers(1, 30)) await Promise.all(messages(10).map((one) => writer.append([one])))
      const appended = (await writer.read()).events
      for (const items of await Promise.all(seen)) expect(items).toEqual(appended)
    })

    it('loses nothing for a slow reader', async () => {
      const { writer, reader } = await newReaderFixture(make)
      const tail = (await reader()).tail()
      await writer.append(messages(10))
      const items = [...(await take(tail, 3))]
      for (const _round of numbers(1, 60)) await writer.append(messages(100))
      for (let item = 0; item < 20; item += 1) {
        items.push(...(await take(tail, 1)))
        await sleep(1)
      }
      items.push(...(await takeTo(tail, 6_010)))
      expect(seqsOf(items)).toEqual(numbers(1, 6_010))
    })

    it('is not slowed by a reader that never reads', async () => {
      const { writer, reader } = await newReaderFixture(make)
      const idle = (await reader()).tail()
      await writer.append(messages(1))
      await take(idle, 1)
      const tail = (await reader()).tail()
      for (const _round of numbers(1, 20)) await writer.append(messages(50))
      expect(seqsOf(await takeTo(tail, 1_001))).toEqual(numbers(1, 1_001))
      expect(seqsOf(await takeTo(idle, 1_001))).toEqual(numbers(2, 1_001))
    })

    it('yields only new events when it starts now', async () => {
      const { writer, reader } = await newReaderFixture(make)
      await writer.append(messages(5))
      const tail = (await reader()).tail({ after: 'now' })
      const first = background(take(tail, 2))
      // A remote tail must be established before the append.
      await sleep(100)
      await writer.append(messages(2, 'new'))
      expect(seqsOf(await first)).toEqual([6, 7])
    })

    it('yields only past and new events that match its filter', async () => {
      const { writer, reader } = await newReaderFixture(make)
      const some = [
        fileChanged('/a'),
        { ...message('in a session'), session: 'ses_1' },
        { ...message('in a run'), run: 'run_1' },
        message('a Needle'),
        message('nothing'),
      ]
      const filters = [
        { types: ['file.*'] },
        { session: 'ses_1' },
        { run: 'run_1' },
        { text: 'needle' },
        { types: ['log.message'] },
      ]
      const expected = [
        [1, 6],
        [2, 7],
        [3, 8],
        [4, 9],
        [2, 3, 4, 5, 7, 8, 9, 10],
      ]
      await writer.append(some)
      const tails = await Promise.all(filters.map(async (filter) => (await reader()).tail(filter)))
      const history = await Promise.all(
        tails.map((tail, index) => take(tail, (expected[index]?.length ?? 0) / 2)),
      )
      await writer.append(some)
      const live = await Promise.all(
        tails.map((tail, index) => take(tail, (expected[index]?.length ?? 0) / 2)),
      )
      expect(
        tails.map((_tail, index) => seqsOf([...(history[index] ?? []), ...(live[index] ?? [])])),
      ).toEqual(expected)
    })

    it('continues after thousands of events that its filter rejects', async () => {
      const { writer, reader } = await newReaderFixture(make)
      const tail = (await reader()).tail({ types: ['file.*'] })
      for (const _round of numbers(1, 6)) await writer.append([...messages(1_000), fileChanged('/a')])
      expect(seqsOf(await take(tail, 6))).toEqual([1_001, 2_002, 3_003, 4_004, 5_005, 6_006])
    })

    it('ends without an error when its signal aborts, while it waits and while it has more items', async () => {
      const { writer, reader } = await newReaderFixture(make)
      await writer.append(messages(10))
      const waiting = new AbortController()
      const tail = (await reader()).tail({ signal: waiting.signal })
      await take(tail, 10)
      const next = tail.next()
      waiting.abort()
      expect(await withTimeLimit('the tail to end', next)).toMatchObject({ done: true })

      const reading = new AbortController()
      const seen: JournalItem[] = []
      for await (const item of (await reader()).tail({ signal: reading.signal })) {
        seen.push(item)
        if (seen.length === 3) reading.abort()
      }
      expect(seqsOf(seen)).toEqual([1, 2, 3])

      const never = (await reader()).tail({ signal: AbortSignal.abort() })
      expect(await withTimeLimit('the tail to end', never.next())).toMatchObject({ done: true })
    })

    it('ends when its reader leaves the loop', async () => {
      const { writer, reader } = await newReaderFixture(make)
      await writer.append(messages(5))
      const tail = (await reader()).tail()
      for await (const item of tail) if ('seq' in item && item.seq === 2) break
      expect(await withTimeLimit('the tail to end', tail.next())).toMatchObject({ done: true })
    })

    it('resolves overlapping calls of next in order', async () => {
      const { writer, reader } = await newReaderFixture(make)
      const tail = (await reader()).tail()
      const answers: Promise<number>[] = []
      const seqOf = async () => seqsOf([(await tail.next()).value])[0] ?? 0
      // The first result triggers another call while others are still pending.
      answers.push(
        seqOf().then((seq) => {
          answers.push(seqOf())
          return seq
        }),
        seqOf(),
        seqOf(),
      )
      await writer.append(messages(4))
      await withTimeLimit('three results', Promise.all(answers.slice(0, 3)))
      expect(await withTimeLimit('four results', Promise.all(answers))).toEqual([1, 2, 3, 4])
    })

    it('yields frozen events', async () => {
      const { writer, reader } = await newReaderFixture(make)
      await writer.append(messages(1))
      const [event] = eventsOf(await take((await reader()).tail(), 1))
      expect(() => Object.assign(event ?? {}, { seq: 2 })).toThrow()
      expect(() => Object.assign(event?.data ?? {}, { message: 'changed' })).toThrow()
    })
  })
}
