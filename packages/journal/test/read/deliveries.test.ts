import { expect, it } from 'vitest'
import { note, output } from '../fixtures/events.ts'
import { openSqlite } from '../fixtures/open.ts'

it('gives each item with its stored JSON and a cursor to go on from, of one journal and of the whole store', async () => {
  const store = await openSqlite({ recent: { maxEntries: 0 } })
  const journal = await store.journal('sbx_a')
  await journal.append([note('one'), output(0, 'o'), note('two'), note('three')])
  await journal.trim({ events: 3 })
  for (const source of [journal, store]) {
    const all = (await source.read()).events
    let index = 0
    for await (const { item, json, cursor } of source.deliveries()) {
      expect(item).toEqual(all[index])
      expect(JSON.parse(json)).toEqual(item)
      index += 1
      expect((await source.read({ after: cursor })).events).toEqual(all.slice(index))
      if (index === all.length) break
    }
  }
})
