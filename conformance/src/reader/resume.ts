import type { JournalItem, JournalReader, TailOptions } from '@vitrine/protocol'
import { isGap } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coverageFault, numbers, seqsOf } from '../events/coverage.ts'
import { fileChanged, messages, output } from '../events/inputs.ts'
import { background } from '../waiting/background.ts'
import { take, takeTo } from '../waiting/take.ts'
import { type MakeWriterAndReader, newReaderFixture } from './fixture.ts'

export function resumeCases(make: MakeWriterAndReader): void {
  describe('resuming', () => {
    it('continues exactly after the cursor, wherever the reader stopped', async () => {
      const { writer, reader } = await newReaderFixture(make)
      await writer.append(messages(30))
      const one = await reader()
      for (const stop of [0, 1, 2, 15, 29]) {
        expect(seqsOf(await takeTo(one.tail({ after: writer.cursor({ seq: stop }) }), 30))).toEqual(
          numbers(stop + 1, 30),
        )
      }
      const tail = one.tail({ after: writer.cursor({ seq: 30 }) })
      const next = background(take(tail, 1))
      await writer.append(messages(1))
      expect(seqsOf(await next)).toEqual([31])
    })

    it('continues after the cursor of any page', async () => {
      const { writer, reader } = await newReaderFixture(make)
      await writer.append(messages(20))
      const one = await reader()
      for (const limit of [1, 7, 20]) {
        const page = await one.read({ limit })
        const rest = limit === 20 ? [] : await takeTo(one.tail({ after: page.cursor }), 20)
        expect(seqsOf([...page.events, ...rest])).toEqual(numbers(1, 20))
      }
    })

    it('delivers every event once to a reader that is disconnected repeatedly during appends', async () => {
      const { writer, reader } = await newReaderFixture(make)
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({ append: fc.integer({ min: 0, max: 12 }), take: fc.integer({ min: 0, max: 9 }) }),
            {
              minLength: 1,
              maxLength: 12,
            },
          ),
          async (steps) => {
            const start = writer.head.seq
            const items: JournalItem[] = []
            let last = start
            for (const step of steps) {
              const appending = writer.append(messages(step.append))
              const available = writer.head.seq - last
              const wanted = Math.min(step.take, Math.max(available, 0))
              const tail = (await reader()).tail({ after: writer.cursor({ seq: last }) })
              items.push(...(await take(tail, wanted)))
              await tail.return?.()
              last += wanted
              await appending
            }
            expect(coverageFault(items, { start, end: last })).toBeUndefined()
          },
        ),
        { numRuns: 20 },
      )
    })

    it('rejects a cursor that is invalid, foreign or ahead, with its code', async () => {
      const { writer, reader } = await newReaderFixture(make)
      const other = await newReaderFixture(make)
      await writer.append(messages(3))
      await other.writer.append(messages(3))
      const one = await reader()
      const foreign = other.writer.cursor({ seq: 2 })
      await expect(one.tail({ after: 'no cursor' }).next()).rejects.toMatchObject({ code: 'cursor_invalid' })
      await expect(one.tail({ after: foreign }).next()).rejects.toMatchObject({ code: 'cursor_foreign' })
      await expect(one.read({ after: foreign })).rejects.toMatchObject({ code: 'cursor_foreign' })
      await expect(one.tail({ after: writer.cursor({ seq: 99 }) }).next()).rejects.toMatchObject({
        code: 'cursor_ahead',
      })
    })

    it('continues after a restart, if supported', async ({ skip }) => {
      const fixture = await newReaderFixture(make)
      if (!fixture.restart) return skip()
      await fixture.writer.append(messages(10))
      const before = await take((await fixture.reader()).tail(), 4)
      const cursor = fixture.writer.cursor({ seq: 4 })
      const writer = await fixture.restart()
      const tail = (await fixture.reader()).tail({ after: cursor })
      const after = await take(tail, 6)
      await writer.append(messages(2))
      expect(seqsOf([...before, ...after, ...(await take(tail, 2))])).toEqual(numbers(1, 12))
    })

    it('reports exactly the events that were trimmed while the reader was disconnected, if supported', async ({
      skip,
    }) => {
      const { writer, reader, trim } = await newReaderFixture(make)
      if (!trim) return skip()
      await writer.append([
        ...messages(20),
        ...numbers(1, 20).map((offset) => output('o', offset)),
        fileChanged('/a'),
      ])
      const early = await take((await reader()).tail(), 7)
      await trim({ events: 20 })
      await writer.append(messages(5))
      const one = await reader()
      const end = writer.head.seq
      const late = await takeTo(one.tail({ after: writer.cursor({ seq: 7 }) }), end)
      expect(coverageFault([...early, ...late], { end })).toBeUndefined()
      expect(coverageFault(await takeTo(one.tail(), end), { end })).toBeUndefined()
      const stored = (await writer.read()).events
      expect((await one.read()).events).toEqual(stored)
      expect(stored.some(isGap)).toBe(true)
      for (const gap of stored.filter(isGap)) {
        const rest = await tailed(one, { after: gap.data.cursor }, end)
        expect(coverageFault(rest, { start: gap.data.to, end })).toBeUndefined()
      }
    })
  })
}

async function tailed(
  reader: JournalReader,
  options: TailOptions,
  end: number,
): Promise<readonly JournalItem[]> {
  return takeTo(reader.tail(options), end)
}
