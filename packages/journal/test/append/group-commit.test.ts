import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { memoryStore, openStore, type StoreDriver, sqliteStore } from '../../src/index.ts'
import { events, everything, finished, messages, note, numbers, started } from '../fixtures/events.ts'
import { folder } from '../fixtures/folder.ts'
import { watched } from './watched.ts'

describe.each([
  ['memory', () => memoryStore()],
  ['SQLite', () => sqliteStore({ path: join(folder(), 'journal.db') })],
])('in a store of kind %s', (_kind, driver) => {
  test('appends of one tick share a transaction, over all journals', async () => {
    const { store, commits } = await counted(driver())
    const a = await store.journal('sbx_a')
    const b = await store.journal('sbx_b')
    await Promise.all(
      numbers(1, 50).flatMap((number) => [a.append([note(`${number}`)]), b.append([note(`${number}`)])]),
    )
    expect(commits).toEqual([100])
    await a.append([note('next tick')])
    expect(commits).toEqual([100, 1])
  })

  test('many appends of one tick are committed in several transactions and in order', async () => {
    const { store, commits } = await counted(driver())
    const journal = await store.journal('sbx_a')
    const all = await Promise.all(numbers(1, 5_000).map((number) => journal.append([note(`${number}`)])))
    expect(all.map(([event]) => event?.seq)).toEqual(numbers(1, 5_000))
    expect(commits.length).toBeGreaterThan(1)
    expect(Math.max(...commits)).toBeLessThanOrEqual(1_024)
    expect(await messages(journal)).toEqual(numbers(1, 5_000).map(String))
  })

  test('the order of appends is the order in each journal and in the store', async () => {
    const { store } = await counted(driver())
    const ids = ['sbx_a', 'sbx_b', 'sbx_c']
    const journals = await Promise.all(ids.map((id) => store.journal(id)))
    const pending: Promise<unknown>[] = []
    const expected: string[] = []
    for (const number of numbers(1, 300)) {
      const journal = journals[(number * 7) % 3]!
      expected.push(`${journal.id} ${number}`)
      pending.push(journal.append([note(`${journal.id} ${number}`)]))
      if (number % 40 === 0) await new Promise(setImmediate)
    }
    await Promise.all(pending)
    expect(await messages(store)).toEqual(expected)
    for (const journal of journals) {
      const own = events(await everything(journal))
      expect(own.map(({ seq }) => seq)).toEqual(numbers(1, own.length))
      expect(own.map(({ data }) => data.message)).toEqual(
        expected.filter((text) => text.startsWith(journal.id)),
      )
      expect(await journal.verify()).toMatchObject({ ok: true, events: own.length })
    }
  })

  test('an invalid append does not affect others of the same tick', async () => {
    const { store, commits } = await counted(driver())
    const journal = await store.journal('sbx_a')
    const results = await Promise.allSettled([
      journal.append([note('one')]),
      journal.append([finished('op_unknown')]),
      journal.append([started('op_1')]),
      journal.append([started('op_1')]),
      journal.append([note('two'), finished('op_unknown')]),
      journal.append([finished('op_1')]),
      journal.append([finished('op_1')]),
      journal.append([note('three')]),
    ])
    expect(
      results.map((result) => (result.status === 'fulfilled' ? result.value[0]?.seq : result.reason.code)),
    ).toEqual([1, 'work_not_open', 2, 'work_already_open', 'work_not_open', 3, 'work_not_open', 4])
    expect(commits).toEqual([4])
    expect(await messages(journal)).toEqual(['one', 'three'])
    expect(await journal.verify()).toMatchObject({ ok: true, events: 4 })
  })

  test('an id that ends and starts again in one tick is open afterwards, once', async () => {
    const { store } = await counted(driver())
    const journal = await store.journal('sbx_a')
    await journal.append([started('op_1')])
    const neighbour = journal.append([note('neighbour')])
    await Promise.all([journal.append([finished('op_1')]), journal.append([started('op_1')]), neighbour])
    await expect(journal.append([started('op_1')])).rejects.toMatchObject({ code: 'work_already_open' })
    await journal.append([finished('op_1')])
    await expect(journal.append([finished('op_1')])).rejects.toMatchObject({ code: 'work_not_open' })
    expect(await journal.verify()).toMatchObject({ ok: true, events: 5 })
  })

  test('no event of a rejected append is written', async () => {
    const { store } = await counted(driver())
    const journal = await store.journal('sbx_a')
    await expect(
      journal.append([note('one'), { type: 'no.such.type', data: {} }, note('two')]),
    ).rejects.toMatchObject({ code: 'event_type_unknown' })
    expect(await messages(journal)).toEqual([])
    expect(await store.journals()).toEqual([])
  })

  test('an append is visible only after its commit', async () => {
    let committing = false
    const seen: boolean[] = []
    const { store } = await counted(driver(), async () => {
      committing = true
      await new Promise(setImmediate)
      committing = false
    })
    const journal = await store.journal('sbx_a')
    const untap = journal.tap(() => {
      seen.push(committing)
    })
    const tail = journal.tail()
    const next = tail.next().then(() => seen.push(committing))
    await journal.append([note('one')])
    await next
    expect(seen).toEqual([false, false])
    untap()
    await tail.return?.()
  })
})

/** The number of events in each transaction. */
async function counted(driver: StoreDriver, before?: () => unknown) {
  const commits: number[] = []
  const store = await openStore(
    watched(driver, {
      async commit({ entries }) {
        await before?.()
        commits.push(entries.length)
      },
    }),
  )
  onTestFinished(() => store.close())
  return { store, commits }
}
