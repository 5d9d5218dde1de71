import { isGap, type JournalItem } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/index.ts'
import { log, messageOf, openMemory, stores } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { stopClock } from './clock.ts'

const start = Date.parse('2026-01-02T03:04:05.000Z')
/** Without a cache, because it would still contain trimmed events. */
const forgetful = { recent: { maxEntries: 0 } }

/** Three journals, whose events take turns. */
async function filled(store: Store, rounds = 4): Promise<void> {
  for (let round = 0; round < rounds; round += 1)
    for (const id of ['a', 'b', 'c']) await (await store.journal(`sbx_${id}`)).append([log(`${id}${round}`)])
}

async function take(tail: AsyncIterator<JournalItem>, count: number): Promise<JournalItem[]> {
  const items: JournalItem[] = []
  while (items.length < count) items.push((await tail.next()).value)
  return items
}

describe.each(stores)('some journals of a %s store', (_kind, openStore) => {
  it('are read by pages and summaries in commit order, under the cursor of the store', async () => {
    const store = await openStore()
    await filled(store)
    const journals = ['sbx_a', 'sbx_c']
    const page = await store.read({ journals, limit: 3 })
    expect(page.events.map(messageOf)).toEqual(['a0', 'c0', 'a1'])
    const rest = await store.read({ journals, after: page.cursor })
    expect(rest.events.map(messageOf)).toEqual(['c1', 'a2', 'c2', 'a3', 'c3'])
    expect(rest.end).toBe(true)
    const newest = await store.read({ journals: ['sbx_b', 'sbx_b'], order: 'desc', text: 'B' })
    expect(newest.events.map(messageOf)).toEqual(['b3', 'b2', 'b1', 'b0'])
    expect((await store.read({ journals: [] })).events).toEqual([])
    expect(await store.summary({ journals, types: ['log.*'] })).toMatchObject({
      total: 8,
      counts: { 'log.message': 8 },
    })
  })

  it('are followed by a tail, from the store and live', async () => {
    const store = await openStore(forgetful)
    await filled(store, 2)
    const tail = store.tail({ journals: ['sbx_b'] })
    const now = store.tail({ journals: ['sbx_b'], after: 'now' })
    expect((await take(tail, 2)).map(messageOf)).toEqual(['b0', 'b1'])
    await filled(store, 2)
    expect((await take(tail, 2)).map(messageOf)).toEqual(['b0', 'b1'])
    expect((await take(now, 2)).map(messageOf)).toEqual(['b0', 'b1'])
    await Promise.all([tail.return?.(), now.return?.()])
  })

  it('have the gaps of these journals only', async () => {
    const store = await openStore(forgetful)
    await filled(store)
    for (const id of ['a', 'b']) await (await store.journal(`sbx_${id}`)).trim({ events: 2 })
    const { events } = await store.read({ journals: ['sbx_a'] })
    expect(events.filter(isGap).map(({ journal }) => journal)).toEqual(['sbx_a'])
    expect((await store.read({ journals: ['sbx_c'] })).events.filter(isGap)).toEqual([])
  })

  it('are refused if one of them does not exist, and the filter then reads nothing', async () => {
    const store = await openStore()
    await filled(store, 1)
    const journals = ['sbx_a', 'sbx_x']
    for (const call of [
      () => store.read({ journals }),
      () => store.summary({ journals }),
      () => store.tail({ journals }).next(),
      () => store.tail({ journals, after: 'now' }).next(),
      () => store.tailEncoded({ journals }).begin(),
    ])
      expect(await thrownBy(call)).toMatchObject({
        code: 'not_found',
        status: 404,
        details: { journal: 'sbx_x' },
      })
    expect(await store.journals()).toEqual(['sbx_a', 'sbx_b', 'sbx_c'])
  })

  it('begin at a time by the times of each, also where a mirror has earlier ones', async () => {
    const clock = stopClock()
    const origin = await openMemory()
    const source = await origin.journal('sbx_m')
    for (const name of ['m0', 'm1', 'm2']) {
      await source.append([log(name)])
      clock.advance(1_000)
    }
    clock.set(start + 10_000)
    const store = await openStore()
    const own = await store.journal('sbx_a')
    await own.append([log('a10')])
    await (await store.journal('sbx_m')).import(await source.export())
    clock.set(start + 20_000)
    await own.append([log('a20')])
    const from = async (seconds: number, journals?: readonly string[]) => {
      const at = new Date(start + seconds * 1_000)
      return (await store.read({ at, ...(journals && { journals }) })).events.map(messageOf)
    }
    expect(await from(1, ['sbx_m'])).toEqual(['m1', 'm2'])
    expect(await from(15)).toEqual(['a20'])
    expect(await from(15, ['sbx_m'])).toEqual([])
    expect(await from(10, ['sbx_a', 'sbx_m'])).toEqual(['a10', 'm0', 'm1', 'm2', 'a20'])
    const { buckets, total } = await store.summary({ buckets: 2 })
    expect(buckets.map(({ from, to, counts }) => [from, to, counts['log.message']])).toEqual([
      ['2026-01-02T03:04:05.000Z', '2026-01-02T03:04:15.001Z', 4],
      ['2026-01-02T03:04:15.001Z', '2026-01-02T03:04:25.002Z', 1],
    ])
    expect(total).toBe(5)
    expect(buckets.every((bucket) => !('seqs' in bucket))).toBe(true)
  })

  it('begin at a time with the gap where its events were', async () => {
    const clock = stopClock()
    const store = await openStore(forgetful)
    const a = await store.journal('sbx_a')
    for (let index = 0; index < 8; index += 1) {
      await a.append([log(`a${index}`)])
      clock.advance(1_000)
    }
    await a.trim({ events: 4 })
    const { events } = await store.read({ at: new Date(start + 2_000) })
    expect(events.some(isGap)).toBe(true)
    expect(events.map(messageOf).filter(Boolean)).toEqual(
      (await a.read({ at: new Date(start + 2_000) })).events.map(messageOf).filter(Boolean),
    )
  })
})
