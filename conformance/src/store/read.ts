import { setTimeout as sleep } from 'node:timers/promises'
import type { Journal } from '@vitrine/journal'
import {
  type EventInput,
  type JournalEvent,
  matchTypes,
  type Page,
  type ReadOptions,
} from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allItems } from '../events/all-items.ts'
import { eventsOf, numbers, seqsOf } from '../events/coverage.ts'
import { fileChanged, message, messages } from '../events/inputs.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'

export function readCases(makeStore: MakeStore): void {
  describe('read', () => {
    it('reads forwards from the oldest and backwards from the newest', async () => {
      const { journal } = await library(makeStore)
      const forwards = await journal.read()
      expect(seqsOf(forwards.events)).toEqual(numbers(1, shelf.length))
      expect(forwards.end).toBe(true)
      const backwards = await journal.read({ order: 'desc' })
      expect(backwards.events).toEqual(forwards.events.toReversed())
      expect(backwards.end).toBe(true)
    })

    it.each([1, 3, 1_000])(
      'returns pages of %i in both directions, without gap or duplicate',
      async (limit) => {
        const { journal, all } = await library(makeStore)
        expect(await allItems(journal, { limit })).toEqual(all)
        expect(await allItems(journal, { limit, order: 'desc' })).toEqual(all.toReversed())
      },
    )

    it('reads between two cursors', async () => {
      const { journal } = await library(makeStore)
      const [after, before] = [journal.cursor({ seq: 3 }), journal.cursor({ seq: 8 })]
      expect(seqsOf((await journal.read({ after, before })).events)).toEqual([4, 5, 6, 7])
      expect(seqsOf((await journal.read({ after, before, order: 'desc' })).events)).toEqual([7, 6, 5, 4])
      expect(seqsOf((await journal.read({ after: before, before: after })).events)).toEqual([])
    })

    it('starts at a seq, in both directions', async () => {
      const { journal } = await library(makeStore)
      expect(seqsOf((await journal.read({ at: 5, limit: 3 })).events)).toEqual([5, 6, 7])
      expect(seqsOf((await journal.read({ at: 5, limit: 3, order: 'desc' })).events)).toEqual([5, 4, 3])
      expect(seqsOf((await journal.read({ at: 10_000 })).events)).toEqual([])
    })

    it('starts at the first event of a time', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      for (const _round of numbers(1, 8)) {
        await journal.append(messages(2))
        await sleep(3)
      }
      const all = eventsOf((await journal.read()).events)
      for (const { time } of all) {
        const first = all.find((event) => event.time >= time)?.seq
        expect(seqsOf((await journal.read({ at: new Date(time), limit: 1 })).events)).toEqual([first])
      }
      expect(seqsOf((await journal.read({ at: new Date(0), limit: 1 })).events)).toEqual([1])
      expect((await journal.read({ at: new Date(Date.now() + 60_000) })).events).toEqual([])
    })

    it('finds by type, family, session, run and text', async () => {
      const { journal } = await library(makeStore)
      const found = async (options: ReadOptions) => seqsOf((await journal.read(options)).events)
      expect(await found({ types: ['file.created'] })).toEqual([1])
      expect(await found({ types: ['file.*'] })).toEqual([1, 2, 9])
      expect(await found({ types: ['file.*', 'turn.started'] })).toEqual([1, 2, 5, 9])
      expect(await found({ types: ['*'] })).toEqual(numbers(1, shelf.length))
      expect(await found({ types: [] })).toEqual([])
      expect(await found({ types: ['file'] })).toEqual([])
      expect(await found({ session: 'ses_1' })).toEqual([3, 5, 6])
      expect(await found({ session: 'ses_1', types: ['turn.*'] })).toEqual([5, 6])
      expect(await found({ run: 'run_1' })).toEqual([4, 7])
      expect(await found({ text: 'needle' })).toEqual([3, 7])
      expect(await found({ text: 'NEEDLE', session: 'ses_1' })).toEqual([3])
      expect(await found({ text: '' })).toEqual(numbers(1, shelf.length))
    })

    it.each([
      ['per cent', '100%'],
      ['underscore', 'snake_case'],
      ['backslash', 'C:\\temp'],
      ['quote', 'say "hi"'],
      ['newline', 'a\nb'],
      ['NUL', 'a\0b'],
      ['emoji', '🧪'],
      ['a lone surrogate', '\ud83e'],
      ['a question mark', 'what?'],
      ['an asterisk', '*.ts'],
    ])('finds a string with %s, and only in events that contain it', async (_name, text) => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      const others = ['100', 'snakeXcase', 'C:temp', 'say hi', 'a b', 'ab', 'lab', 'what', '.ts', 'x'].map(
        message,
      )
      await journal.append([...others, message(`before ${text} after`), ...others])
      expect(seqsOf((await journal.read({ text })).events)).toEqual([others.length + 1])
    })

    it('searches for a string of any length or rejects it as too long', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      const text = 'long '.repeat(12_000)
      await journal.append([message('short'), message(text)])
      const search = journal.read({ text }).then(({ events }) => seqsOf(events))
      await expect(search.catch((error: unknown) => error)).resolves.toSatisfy(
        (result) => JSON.stringify(result) === '[2]' || isRefusal(result, 'argument_invalid'),
      )
    })

    it('finds exactly the events that a check of every event finds', async () => {
      const { journal, all } = await library(makeStore)
      const options = fc.record(
        {
          types: fc.array(
            fc.constantFrom('file.*', 'file.changed', 'turn.*', 'log.message', 'process.*', '*', 'x.*'),
          ),
          session: fc.constantFrom('ses_1', 'ses_2', 'ses'),
          run: fc.constantFrom('run_1', 'run_2'),
          text: fc.constantFrom('needle', 'a', 'A', '%', '_', 'ses_1', '"', 'é', 'É', '/src'),
          order: fc.constantFrom('asc' as const, 'desc' as const),
          limit: fc.integer({ min: 1, max: 12 }),
        },
        { requiredKeys: [] },
      )
      await fc.assert(
        fc.asyncProperty(options, async (one) => {
          const expected = (one.order === 'desc' ? all.toReversed() : all).filter(matchesByScan(one))
          expect(await allItems(journal, one)).toEqual(expected)
        }),
        { numRuns: 100 },
      )
    })

    it('advances and ends with a filter that matches nothing', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      for (const _round of numbers(1, 5)) await journal.append(messages(2_500))
      const nothing = { types: ['file.*'], limit: 5 }
      let page: Page | undefined
      let pageCount = 0
      do {
        page = await journal.read({ ...nothing, ...(page && { after: page.cursor }) })
        expect(page.events).toEqual([])
        pageCount += 1
      } while (!page.end && pageCount < 100)
      expect(page.end).toBe(true)
      await journal.append([message('no'), fileChanged('/a')])
      expect(seqsOf((await journal.read({ ...nothing, after: page.cursor })).events)).toEqual([12_502])
      const backwards = await journal.read({ types: ['turn.*'], order: 'desc' })
      expect(backwards).toMatchObject({ events: [], end: true })
    })

    it('returns a page whose cursor continues it, for any options', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      const handBack = async (options: ReadOptions) => {
        const { cursor } = await journal.read(options)
        await expect(
          journal.read({ after: cursor }),
          `after, from ${JSON.stringify(options)}`,
        ).resolves.toBeDefined()
        await expect(
          journal.read({ before: cursor }),
          `before, from ${JSON.stringify(options)}`,
        ).resolves.toBeDefined()
      }
      await handBack({})
      await handBack({ order: 'desc' })
      await journal.append(messages(4))
      const newest = journal.cursor({ seq: 4 })
      await handBack({ after: newest })
      await handBack({ before: newest, order: 'desc' })
      await handBack({ after: newest, order: 'desc' })
    })

    it('rejects invalid limits, orders and positions', async () => {
      const { journal } = await library(makeStore)
      for (const limit of [0, -1, 1.5, 10_001, Number.NaN, Number.POSITIVE_INFINITY]) {
        await expect(journal.read({ limit }), `limit ${limit}`).rejects.toMatchObject({
          code: 'argument_invalid',
        })
        await expect(journal.summary({ buckets: limit }), `buckets ${limit}`).rejects.toMatchObject({
          code: 'argument_invalid',
        })
      }
      for (const at of [0, -1, 1.5, new Date(Number.NaN)]) {
        await expect(journal.read({ at }), `at ${at}`).rejects.toMatchObject({ code: 'argument_invalid' })
      }
      for (const order of ['sideways', '', 'ASC']) {
        await expect(journal.read(JSON.parse(JSON.stringify({ order })))).rejects.toMatchObject({
          code: 'argument_invalid',
        })
      }
      for (const types of ['file.*', { 0: 'file.*' }, [1]]) {
        const options = JSON.parse(JSON.stringify({ types }))
        await expect(journal.read(options)).rejects.toMatchObject({ code: 'argument_invalid' })
        await expect(journal.summary(options)).rejects.toMatchObject({ code: 'argument_invalid' })
      }
    })

    it('stops when its signal is aborted', async () => {
      const { journal } = await library(makeStore)
      await expect(journal.read({ signal: AbortSignal.abort() })).rejects.toMatchObject({
        name: 'AbortError',
      })
    })

    it('reads an empty journal as empty', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('nothing')
      expect(await journal.read()).toMatchObject({ events: [], end: true })
      expect(await journal.summary()).toEqual({ buckets: [], total: 0, counts: {} })
      expect(await journal.verify()).toMatchObject({ ok: true, events: 0, head: { seq: 0 } })
    })
  })

  describe('summary', () => {
    it.each([1, 3, 60, 10_000])('counts all events in %i intervals', async (buckets) => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      for (const round of numbers(1, 6)) {
        await journal.append([message('x'), fileChanged('/a'), ...(round % 2 ? [message('y')] : [])])
        await sleep(3)
      }
      const all = eventsOf((await journal.read()).events)
      const summary = await journal.summary({ buckets })
      expect(summary.total).toBe(all.length)
      expect(summary.counts).toEqual(countByType(all))
      expect(summary.buckets.length).toBeLessThanOrEqual(buckets)
      for (const { from, to, counts, seqs } of summary.buckets) {
        const inside = all.filter(({ time }) => time >= from && time < to)
        expect(counts).toEqual(countByType(inside))
        expect(seqs).toEqual(inside.length > 0 ? [inside[0]?.seq, inside.at(-1)?.seq] : undefined)
      }
      expect(summary.buckets.flatMap(({ counts }) => Object.values(counts)).reduce((a, b) => a + b, 0)).toBe(
        all.length,
      )
    })

    it('counts by the same filters as read', async () => {
      const { journal, all } = await library(makeStore)
      for (const filter of [
        { types: ['file.*'] },
        { session: 'ses_1' },
        { run: 'run_1' },
        { text: 'needle' },
      ]) {
        const expected = all.filter(matchesByScan(filter))
        expect(await journal.summary(filter)).toMatchObject({
          total: expected.length,
          counts: countByType(expected),
        })
      }
    })
  })
}

const shelf: readonly EventInput[] = [
  { type: 'file.created', data: { path: '/src/a.ts', kind: 'file' } },
  fileChanged('/src/a.ts'),
  { ...message('a Needle in a haystack'), session: 'ses_1' },
  { ...message('100% of snake_case'), run: 'run_1' },
  { type: 'turn.started', session: 'ses_1', turn: 'turn_1', data: {} },
  { type: 'turn.finished', session: 'ses_1', turn: 'turn_1', data: { outcome: 'ok' } },
  { ...message('another needle'), run: 'run_1', session: 'ses_2' },
  message('École "quoted" \\ é'),
  { type: 'file.deleted', data: { path: '/src/É.ts', kind: 'file' } },
  { type: 'process.started', data: { process: 'p' } },
  { type: 'process.exited', data: { process: 'p', outcome: 'failed', exitCode: 1 } },
]

async function library(makeStore: MakeStore): Promise<{ journal: Journal; all: JournalEvent[] }> {
  const fixture = await newStoreFixture(makeStore)
  const journal = await (await fixture.open()).journal('a')
  await journal.append(shelf)
  return { journal, all: eventsOf((await journal.read()).events) }
}

function matchesByScan({ types, session, run, text }: ReadOptions): (event: JournalEvent) => boolean {
  const lower = (value: string) => value.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  const inText = text === undefined ? '' : lower(JSON.stringify(text).slice(1, -1))
  return (event) =>
    matchTypes(types)(event.type) &&
    (session === undefined || event.session === session) &&
    (run === undefined || event.run === run) &&
    lower(JSON.stringify(event)).includes(inText)
}

function countByType(events: readonly JournalEvent[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { type } of events) counts[type] = (counts[type] ?? 0) + 1
  return counts
}

function isRefusal(value: unknown, code: string): boolean {
  return typeof value === 'object' && value !== null && 'code' in value && value.code === code
}
