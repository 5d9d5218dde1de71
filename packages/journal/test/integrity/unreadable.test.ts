import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openStore, sqliteStore } from '../../src/index.ts'
import { note } from '../fixtures/events.ts'
import { folder } from '../fixtures/folder.ts'
import { opened } from '../fixtures/opened.ts'

describe.each(['gone', '', 'null', '7'])('an event whose stored text is %j', (body) => {
  test('fails every read as store_corrupt, and verification reports it', async () => {
    const path = join(folder(), 'journal.db')
    const first = await openStore(sqliteStore({ path }))
    await (await first.journal('sbx_a')).append([note('one'), note('two'), note('three')])
    await first.close()
    const db = new DatabaseSync(path)
    db.prepare('UPDATE events SET body = ? WHERE seq = 2').run(body)
    db.close()
    const store = await opened(path)
    const journal = await store.journal('sbx_a')
    const damage = { code: 'store_corrupt', message: expect.stringMatching(/\b2\b.*sbx_a|sbx_a.*\b2\b/) }
    expect(await journal.verify()).toMatchObject({ ok: false, seq: 2 })
    expect((await journal.read({ limit: 1 })).events).toMatchObject([{ seq: 1 }])
    await expect(journal.read()).rejects.toMatchObject(damage)
    await expect(store.read()).rejects.toMatchObject(damage)
    const tail = journal.tail()
    expect(await tail.next()).toMatchObject({ value: { seq: 1 } })
    await expect(tail.next()).rejects.toMatchObject(damage)
    // The damaged event is never skipped.
    await expect(tail.next()).rejects.toMatchObject(damage)
    expect(await journal.append([note('four')])).toMatchObject([{ seq: 4 }])
  })
})
