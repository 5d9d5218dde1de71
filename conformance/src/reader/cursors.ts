import { isGap, type JournalEvent, type JournalItem } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { coverageFault, eventsOf, numbers, seqsOf } from '../events/coverage.ts'
import { messages, output } from '../events/inputs.ts'
import { take, takeTo } from '../waiting/take.ts'
import { type MakeWriterAndReader, newReaderFixture } from './fixture.ts'

const refusals = ['cursor_invalid', 'cursor_foreign', 'cursor_ahead']

export function itemCursorCases(make: MakeWriterAndReader): void {
  describe('the cursor of an item', () => {
    it('continues with the next item, whether the item is from a page, from a tail or a copy', async () => {
      const { writer, reader } = await newReaderFixture(make)
      await writer.append(messages(10))
      const one = await reader()
      const page = (await one.read({ limit: 5 })).events
      const tailed = await take(one.tail({ after: one.cursor(page[4]!) }), 5)
      expect(seqsOf(tailed)).toEqual(numbers(6, 10))
      const copies = [...page, ...tailed].map((item) => JSON.parse(JSON.stringify(item)) as JournalItem)
      const another = await reader()
      for (const item of [...eventsOf(page), ...eventsOf(tailed), ...eventsOf(copies)]) {
        const after = another.cursor(item)
        expect(seqsOf((await one.read({ after })).events)).toEqual(numbers(item.seq + 1, 10))
        expect(seqsOf((await one.read({ before: after })).events)).toEqual(numbers(1, item.seq - 1))
      }
    })

    it('continues after a gap, and after an event that was trimmed later, if supported', async ({ skip }) => {
      const { writer, reader, trim } = await newReaderFixture(make)
      if (!trim) return skip()
      await writer.append([...messages(4), ...numbers(1, 20).map((offset) => output('o', offset))])
      const one = await reader()
      const before = await takeTo(one.tail(), 24)
      await trim({ events: 8 })
      await writer.append(messages(3))
      const end = writer.head.seq
      const { events } = await one.read()
      const gaps = events.filter(isGap)
      expect(gaps.length).toBeGreaterThan(0)
      for (const item of [...gaps, ...before]) {
        const rest = await takeTo(one.tail({ after: one.cursor(item) }), end)
        const start = isGap(item) ? item.data.to : item.seq
        expect(coverageFault(rest, { start, end })).toBeUndefined()
      }
    })

    it('is refused when it was changed, or when the item is of another journal or ahead', async () => {
      const { writer, reader } = await newReaderFixture(make)
      const other = await newReaderFixture(make)
      // Other times than those of the other journal, which has the same id.
      await writer.append(messages(1))
      await new Promise((resolve) => setTimeout(resolve, 10))
      await other.writer.append(messages(3))
      await writer.append(messages(2))
      const one = await reader()
      const events = eventsOf((await one.read()).events)
      const foreign = eventsOf((await (await other.reader()).read()).events)
      const codeOf = async (after: string) =>
        one.read({ after }).then(
          () => undefined,
          (error: { code?: string }) => error.code,
        )
      expect(await codeOf((await other.reader()).cursor(foreign[0]!))).toBe('cursor_foreign')
      const future: JournalEvent = { ...events[2]!, seq: 99 }
      expect(await codeOf(one.cursor(future))).toBe('cursor_ahead')
      const cursor = one.cursor(events[1]!)
      const middle = cursor.length >> 1
      const cut = cursor.slice(0, middle) + cursor.slice(middle + 1)
      for (const changed of [cursor.slice(0, -1), cursor.slice(1), `${cursor}0`, cut, ''])
        expect(refusals, changed).toContain(await codeOf(changed))
      expect(() => one.cursor({ ...events[0]!, journal: 'sbx_other' })).toThrow(
        expect.objectContaining({ code: 'cursor_foreign' }),
      )
      for (const item of [{}, null, { seq: -1 }, { ...events[0], seq: 1.5 }])
        expect(() => one.cursor(item as JournalItem), JSON.stringify(item)).toThrow(
          expect.objectContaining({ code: 'argument_invalid' }),
        )
    })
  })
}
