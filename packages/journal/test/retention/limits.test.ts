import { setTimeout as sleep } from 'node:timers/promises'
import type { EventInput } from '@vitrine/protocol'
import { describe, expect, test } from 'vitest'
import { events, everything, note, numbers, output } from '../fixtures/events.ts'
import { eventually } from '../fixtures/eventually.ts'
import { opened } from '../fixtures/opened.ts'
import { books, census, expectInOrder, largeJournal } from './large-journal.ts'

describe('a journal of 20,000 events', () => {
  test('is trimmed to a count: output first, then other events, audit events last', async () => {
    const large = await largeJournal(20_000)
    const { journal } = large
    expect(await census(journal)).toEqual({ output: 12_000, notes: 4_000, audit: 4_000 })
    const first = await journal.trim({ events: 12_000 })
    expect(first.events).toBeGreaterThanOrEqual(8_000)
    expect(await census(journal)).toMatchObject({ notes: 4_000, audit: 4_000 })
    await expectInOrder(large)
    await journal.trim({ events: 6_000 })
    const second = await census(journal)
    expect(second).toMatchObject({ output: 0, audit: 4_000 })
    expect(second.notes).toBeGreaterThan(0)
    await expectInOrder(large)
    await journal.trim({ events: 1_000 })
    const third = await census(journal)
    expect(third).toMatchObject({ output: 0, notes: 0 })
    expect(third.audit).toBeGreaterThan(0)
    await expectInOrder(large)
  })

  test('is trimmed to a size', async () => {
    const large = await largeJournal(20_000)
    const before = books(large.path).bytes
    const removed = await large.journal.trim({ bytes: Math.floor(before / 2) })
    const after = await expectInOrder(large)
    expect(after.bytes).toBeLessThanOrEqual(before / 2)
    expect(removed.bytes).toBeGreaterThanOrEqual(before / 2)
    expect(await census(large.journal)).toMatchObject({ notes: 4_000, audit: 4_000 })
  })

  test('is trimmed by age regardless of type', async () => {
    const large = await largeJournal(20_000)
    const { journal } = large
    await sleep(60)
    const young = await journal.append(numbers(1, 10).map((number) => note(`young ${number}`)))
    const age = Date.now() - Date.parse(young[0]!.time) + 30
    await journal.trim({ ageMs: age })
    expect(await census(journal)).toEqual({ output: 0, notes: 10, audit: 0 })
    expect((await expectInOrder(large)).holes).toEqual([{ from: 1, to: 20_000 }])
  })

  test('is trimmed automatically as it grows', async () => {
    const large = await largeJournal(20_000, undefined, { retention: { events: 3_000 } })
    await eventually('the journal is below its limit', () => books(large.path).events <= 3_000)
    await large.store.flush()
    await large.store.close()
    const next = await opened(large.path, { retention: {} })
    await expectInOrder({ ...large, store: next, journal: await next.journal('sbx_a') })
  })
})

test('events of runs and loops are trimmed as late as audit events', async () => {
  const runtime = (index: number): EventInput => {
    const run = `run_${Math.floor(index / 10)}`
    if (index % 10 === 0) return { type: 'run.started', run, data: {} }
    if (index % 10 === 1) return { type: 'loop.iterated', run, data: { loop: 'loop_a', iteration: index } }
    if (index % 10 === 2) return { type: 'run.finished', run, data: { outcome: 'ok' } }
    return note(`${index}`)
  }
  const large = await largeJournal(1_000, runtime)
  await large.journal.trim({ events: 400 })
  const left = events(await everything(large.journal)).filter(({ type }) => /^(run|loop)\./.test(type))
  expect(left).toHaveLength(300)
})

test('a journal within its limits is not trimmed', async () => {
  const large = await largeJournal(1_000)
  const before = large.journal.head
  expect(await large.journal.trim({ events: 1_000, bytes: 10_000_000, ageMs: 3_600_000 })).toEqual({
    events: 0,
    bytes: 0,
  })
  expect(large.journal.head).toEqual(before)
})

test('text with multi-byte characters is counted the same when it is appended and trimmed', async () => {
  const large = await largeJournal(1_000, (index) => output(index, `${index} 😀 é 中 `.repeat(3)))
  await large.journal.trim({ events: 500 })
  await large.journal.trim({ bytes: 20_000 })
  await expectInOrder(large)
})

test('a trim counts its own records: afterwards the journal is within its limit', async () => {
  const large = await largeJournal(6_000)
  await large.journal.trim({ events: 20 })
  expect((await expectInOrder(large)).rows).toBeLessThanOrEqual(20)
})

test('adjacent holes are merged, in one trim and over several', async () => {
  const large = await largeJournal(5_000, (index) => output(index, 'x'))
  for (const limit of [4_000, 2_000, 1_000]) {
    await large.journal.trim({ events: limit })
    expect((await expectInOrder(large)).holes).toHaveLength(1)
  }
})

test('every trim records its range and takes over the ranges of removed records', async () => {
  const large = await largeJournal(5_000)
  const { journal } = large
  const removed = await journal.trim({ events: 2_000 })
  const reported = events(await everything(journal)).filter(({ type }) => type === 'journal.trimmed')
  expect(reported.reduce((sum, { data }) => sum + Number(data.events), 0)).toBe(removed.events)
  expect(reported.reduce((sum, { data }) => sum + Number(data.bytes), 0)).toBe(removed.bytes)
  expect(reported.every(({ data, derived }) => data.reason === 'events' && derived === true)).toBe(true)
  await sleep(5)
  await journal.trim({ ageMs: 1 })
  await journal.trim({ events: 1 })
  await expectInOrder(large)
  const left = events(await everything(journal))
  expect(left.every(({ type }) => type === 'journal.trimmed')).toBe(true)
  expect(left.at(-1)?.seq).toBe(journal.head.seq)
})

test('a reader whose position was trimmed gets a gap and continues', async () => {
  const large = await largeJournal(3_000, (index) => output(index, `${index}`))
  const { journal } = large
  const page = await journal.read({ limit: 100 })
  await journal.trim({ events: 500 })
  const items = (await journal.read({ after: page.cursor, limit: 10_000 })).events
  expect(items[0]).toMatchObject({ type: 'journal.gap', data: { from: 101, reason: 'events' } })
  const [gap, ...rest] = items
  const to = Number(gap?.type === 'journal.gap' ? gap.data.to : 0)
  expect(rest.map((item) => ('seq' in item ? item.seq : -1))).toEqual(numbers(to + 1, journal.head.seq))
})
