import { isGap, type JournalItem, type ReadOptions, readPages } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import type { Journal, Store } from '../../src/index.ts'
import { log, stores } from '../fixtures/open.ts'

const forgetful = { recent: { maxEntries: 1 } }
const wanted = ['log.message', 'process.output']

function output(offset: number) {
  const data = { process: 'p', stream: 'stdout', offset, data: 'x', encoding: 'utf8' }
  return { type: 'process.output', data }
}

/** Alternating holes and messages, a range longer than a scan window that no filter matches, messages, and a hole. */
async function withHoles(store: Store, holes: number): Promise<Journal> {
  const journal = await store.journal('sbx_a')
  const turns = Array.from({ length: holes }, (_, index) => [output(index), log(`early ${index}`)]).flat()
  await journal.append(turns)
  for (let count = 0; count < 11; count += 1) {
    await journal.append(Array.from({ length: 1_000 }, () => ({ type: 'sandbox.ready', data: {} })))
  }
  await journal.append(Array.from({ length: 20 }, (_, index) => log(`late ${index}`)))
  await journal.append(Array.from({ length: 1_300 }, (_, index) => output(holes + index)))
  // A tenth of the events is trimmed, output first.
  await journal.trim({ events: journal.head.seq - 1 })
  return journal
}

async function allPages(journal: Journal, limit: number, order: ReadOptions['order'] = 'asc') {
  const items: JournalItem[] = []
  for await (const page of readPages(journal, { types: wanted, limit, order })) {
    expect(page.events.length).toBeLessThanOrEqual(limit)
    items.push(...page.events)
  }
  return items
}

describe.each(stores)('a %s store with holes', (_kind, openStore) => {
  it('returns every item within the limit when holes alone fill a page', async () => {
    const journal = await withHoles(await openStore(forgetful), 4)
    const all = await allPages(journal, 10_000)
    expect(all.filter(isGap)).toHaveLength(5)
    expect(all.filter(({ type }) => type === 'log.message')).toHaveLength(24)
    for (const limit of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
      expect(await allPages(journal, limit)).toEqual(all)
      expect(await allPages(journal, limit, 'desc')).toEqual(all.toReversed())
    }
  })

  it('limits pages of large events to a few megabytes', async () => {
    const journal = await (await openStore(forgetful)).journal('sbx_a')
    const large = Array.from({ length: 12 }, () => 'x'.repeat(60_000))
    for (let count = 0; count < 30; count += 1)
      await journal.append([{ type: 'foreign.event', data: { type: 'large', data: large } }])
    const first = await journal.read()
    expect(first.end).toBe(false)
    expect(JSON.stringify(first.events).length).toBeLessThan(10_000_000)
    const rest = await journal.read({ after: first.cursor })
    expect([...first.events, ...rest.events].length).toBeGreaterThan(first.events.length)
    const seqs: number[] = []
    for await (const item of journal.tail()) if (!isGap(item) && seqs.push(item.seq) === 30) break
    expect(seqs).toEqual(Array.from({ length: 30 }, (_, index) => index + 1))
  })

  it('rejects a filter with too many types', async () => {
    const journal = await (await openStore()).journal('sbx_a')
    const types = Array.from({ length: 1_100 }, (_, index) => `type.${index}`)
    await expect(journal.read({ types })).rejects.toMatchObject({ code: 'argument_invalid' })
  })
})
