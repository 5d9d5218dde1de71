import type { Store } from '@vitrine/journal'
import type {
  JournalFilter,
  JournalItem,
  Page,
  ReadOptions,
  Summary,
  SummaryOptions,
  TailOptions,
} from '@vitrine/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventsOf } from '../events/coverage.ts'
import { message } from '../events/inputs.ts'
import { take } from '../waiting/take.ts'

/** A reader of all journals of a host: its store, or a client. */
export interface AllJournalsReader {
  read(options?: ReadOptions & JournalFilter): Promise<Page>
  tail(options?: TailOptions & JournalFilter): AsyncIterableIterator<JournalItem>
  summary(options?: SummaryOptions & JournalFilter): Promise<Summary>
  cursor(item: JournalItem): string
}

/** A store that is written directly and read through the reader under test. */
export interface StoreAndReader {
  readonly store: Store
  readonly reader: AllJournalsReader
  dispose(): Promise<void>
}

export type MakeStoreAndReader = () => Promise<StoreAndReader>

/**
 * Tests that every reader of all journals must pass, whether local or remote.
 *
 * @example
 * allJournalsConformance('the store itself', async () => {
 *   const store = await openStore(memoryStore())
 *   return { store, reader: store, dispose: () => store.close() }
 * })
 */
export function allJournalsConformance(name: string, make: MakeStoreAndReader): void {
  describe(`all journals: ${name}`, () => {
    it('reads, follows and counts the events of some journals, in the order of their commits', async () => {
      const { reader, write } = await newFixture(make)
      await write('a1', 'b1', 'c1', 'a2', 'b2', 'c2')
      const journals = ['sbx_a', 'sbx_c']
      const first = await reader.read({ journals, limit: 3 })
      expect(textsOf(first.events)).toEqual(['a1', 'c1', 'a2'])
      expect(textsOf((await reader.read({ journals, after: first.cursor })).events)).toEqual(['c2'])
      expect(textsOf((await reader.read({ journals, order: 'desc', limit: 2 })).events)).toEqual(['c2', 'a2'])
      expect(await reader.summary({ journals, buckets: 1 })).toMatchObject({ total: 4 })
      const tail = reader.tail({ journals, after: first.cursor })
      expect(textsOf(await take(tail, 1))).toEqual(['c2'])
      await write('b3', 'a3')
      expect(textsOf(await take(tail, 1))).toEqual(['a3'])
      await tail.return?.()
    })

    it('continues after every item of a page and of a tail with its cursor', async () => {
      const { reader, write, store } = await newFixture(make)
      await write('a1', 'b1', 'c1', 'a2', 'b2', 'c2')
      const journals = ['sbx_a', 'sbx_b', 'sbx_c']
      const { events } = await reader.read({ journals })
      const tail = reader.tail({ journals })
      const tailed = await take(tail, 6)
      await tail.return?.()
      for (const [index, item] of events.entries()) {
        const after = reader.cursor(item)
        expect(after).toBe(reader.cursor(tailed[index]!))
        expect(after).toBe(store.cursor(item))
        expect((await reader.read({ journals, after })).events).toEqual(events.slice(index + 1))
        expect((await reader.read({ journals, before: after })).events).toEqual(events.slice(0, index))
      }
      const resumed = reader.tail({ journals, after: reader.cursor(events[3]!) })
      expect(textsOf(await take(resumed, 2))).toEqual(['b2', 'c2'])
      await resumed.return?.()
    })

    it('refuses the cursors of items that the store does not have', async () => {
      const { reader, write } = await newFixture(make)
      await write('a1', 'b1')
      const [first] = (await reader.read({ journals: ['sbx_a'] })).events
      const event = first!
      const foreign = [
        { ...event, journal: 'sbx_x' },
        { ...event, seq: 900 },
        { ...event, time: new Date(0).toISOString() },
      ] as JournalItem[]
      for (const item of foreign)
        await expect(reader.read({ after: reader.cursor(item) })).rejects.toMatchObject({
          code: 'cursor_foreign',
        })
      for (const item of [undefined, {}, { journal: 'sbx_a' }])
        expect(() => reader.cursor(item as unknown as JournalItem)).toThrow(
          expect.objectContaining({ code: 'argument_invalid' }),
        )
    })

    it('starts at a time', async () => {
      const { reader, write } = await newFixture(make)
      await write('a1', 'b1')
      // A time after those events and not after the next ones.
      await new Promise((resolve) => setTimeout(resolve, 10))
      const at = new Date()
      await write('b2', 'a2')
      const journals = ['sbx_a', 'sbx_b']
      expect(textsOf((await reader.read({ journals, at })).events)).toEqual(['b2', 'a2'])
      expect(textsOf((await reader.read({ journals: ['sbx_a'], at })).events)).toEqual(['a2'])
      const later = new Date(Date.now() + 60_000)
      expect((await reader.read({ journals, at: later })).events).toEqual([])
    })

    it('refuses unknown journals and cursors of one journal, with their codes', async () => {
      const { reader, write, store } = await newFixture(make)
      await write('a1', 'b1')
      const unknown = { journals: ['sbx_a', 'sbx_x'] }
      for (const call of [
        () => reader.read(unknown),
        () => reader.summary(unknown),
        () => reader.tail(unknown).next(),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'not_found' })
      const one = await store.journal('sbx_a')
      for (const [after, code] of [
        [one.cursor({ seq: 1 }), 'cursor_foreign'],
        ['no cursor', 'cursor_invalid'],
      ] as const) {
        await expect(reader.read({ after })).rejects.toMatchObject({ code })
        await expect(reader.tail({ after }).next()).rejects.toMatchObject({ code })
      }
      expect(await store.journals()).not.toContain('sbx_x')
    })
  })
}

async function newFixture(make: MakeStoreAndReader) {
  const { store, reader, dispose } = await make()
  onTestFinished(() => dispose())
  return {
    store,
    reader,
    /** Appends each text to the journal of its first letter. */
    async write(...texts: readonly string[]): Promise<void> {
      for (const text of texts) await (await store.journal(`sbx_${text[0]}`)).append([message(text)])
    },
  }
}

function textsOf(items: readonly JournalItem[]): unknown[] {
  return eventsOf(items).map(({ data }) => data.message)
}
