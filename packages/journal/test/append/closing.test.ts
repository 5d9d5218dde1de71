import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore, sqliteStore } from '../../src/index.ts'
import { messages, note, numbers } from '../fixtures/events.ts'
import { folder } from '../fixtures/folder.ts'
import { opened } from '../fixtures/opened.ts'

describe('closing a store', () => {
  test('commits events appended before', async () => {
    const path = join(folder(), 'journal.db')
    const store = await openStore(sqliteStore({ path }))
    const journal = await store.journal('sbx_a')
    const appends = numbers(1, 3_000).map((number) => journal.append([note(`${number}`)]))
    await store.close()
    expect((await Promise.all(appends)).at(-1)).toMatchObject([{ seq: 3_000 }])
    expect(await messages(await opened(path))).toEqual(numbers(1, 3_000).map(String))
  })

  test('rejects later calls with the reason', async () => {
    const path = join(folder(), 'journal.db')
    const store = await openStore(sqliteStore({ path }))
    const journal = await store.journal('sbx_a')
    await journal.append([note('before')])
    await store.close()
    const closed = { code: 'store_closed' }
    await expect(journal.append([note('after')])).rejects.toMatchObject(closed)
    await expect(store.journal('sbx_b')).rejects.toMatchObject(closed)
    await expect(journal.read()).rejects.toMatchObject(closed)
    await expect(journal.verify()).rejects.toMatchObject(closed)
    await expect(journal.tail().next()).rejects.toMatchObject(closed)
    await expect(store.putBlob('bytes')).rejects.toMatchObject(closed)
    expect(await messages(await opened(path))).toEqual(['before'])
  })

  test('ends waiting tails with the reason', async () => {
    const store = await openStore(sqliteStore({ path: join(folder(), 'journal.db') }))
    const tail = (await store.journal('sbx_a')).tail()
    const next = tail.next()
    await store.close()
    await expect(next).rejects.toMatchObject({ code: 'store_closed' })
  })

  test('resolves for every caller of close()', async () => {
    const path = join(folder(), 'journal.db')
    const store = await openStore(sqliteStore({ path }))
    await (await store.journal('sbx_a')).append([note('one')])
    const first = store.close()
    await store.close()
    await (await openStore(sqliteStore({ path }))).close()
    await first
  })

  test('happens at the end of an `await using` block', async () => {
    const path = join(folder(), 'journal.db')
    {
      await using store = await openStore(sqliteStore({ path }))
      await (await store.journal('sbx_a')).append([note('one')])
    }
    expect(await messages(await opened(path))).toEqual(['one'])
  })
})
