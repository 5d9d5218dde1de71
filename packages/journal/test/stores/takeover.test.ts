import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openStore, sqliteStore } from '../../src/index.ts'
import { type ChildFixture, child } from '../fixtures/child.ts'
import { events, everything, messages, note } from '../fixtures/events.ts'
import { eventually } from '../fixtures/eventually.ts'
import { folder } from '../fixtures/folder.ts'
import { opened } from '../fixtures/opened.ts'
import type { OwnerProcess } from '../fixtures/owner.ts'

describe('a takeover', () => {
  test('closes the open work of the living owner and rejects its next append', async () => {
    const { path, other } = await owned()
    await other.call('start', 'sbx_a', 'op_1')
    const store = await opened(path, { takeover: true })
    await expect(other.call('append', 'sbx_a', ['never'])).rejects.toMatchObject({ code: 'store_fenced' })
    const journal = await store.journal('sbx_a')
    expect(events(await everything(journal)).map(({ type }) => type)).toEqual([
      'log.message',
      'operation.started',
      'operation.finished',
      'journal.recovered',
    ])
    expect(await journal.verify()).toMatchObject({ ok: true })
  })

  test('is noticed by the next commit, before anything of it is written', async () => {
    const path = join(folder(), 'journal.db')
    const store = await opened(path)
    const journal = await store.journal('sbx_a')
    await journal.append([note('before')])
    const other = new DatabaseSync(path)
    other.exec("UPDATE meta SET value = '7' WHERE key = 'epoch'")
    await expect(journal.append([note('never')])).rejects.toMatchObject({ code: 'store_fenced' })
    expect(store.lost.reason).toMatchObject({ code: 'store_fenced' })
    expect(other.prepare('SELECT count(*) AS count FROM events').get()).toMatchObject({ count: 1 })
    other.close()
  })

  test('is noticed by an owner that writes nothing', async () => {
    const { path, other } = await owned()
    await opened(path, { takeover: true })
    await eventually('the idle owner learns that it was fenced off', async () =>
      Boolean(await other.call('lost')),
    )
    expect(await other.call('lost')).toBe('store_fenced')
    await expect(other.call('append', 'sbx_a', ['never'])).rejects.toMatchObject({ code: 'store_fenced' })
  })

  test('prevents all later writes of the former owner', async () => {
    const { path, other } = await owned()
    const store = await opened(path, { takeover: true })
    const journal = await store.journal('sbx_a')
    for (let round = 0; round < 5; round += 1) {
      await journal.append([note(`mine ${round}`)])
      await other.call('append', 'sbx_a', [`theirs ${round}`]).catch(() => undefined)
    }
    await other.call('close')
    expect(await messages(store)).toEqual(['theirs', 'mine 0', 'mine 1', 'mine 2', 'mine 3', 'mine 4'])
    expect(await journal.verify()).toMatchObject({ ok: true })
  })

  test('does not wait for a stopped owner, which is fenced when it continues', async () => {
    const { path, other } = await owned()
    await other.kill('SIGSTOP')
    const store = await opened(path, { takeover: true }, { releaseMs: 50 })
    const journal = await store.journal('sbx_a')
    await journal.append([note('mine')])
    await other.kill('SIGCONT')
    await expect(other.call('append', 'sbx_a', ['never'])).rejects.toMatchObject({ code: 'store_fenced' })
    await eventually('the woken owner learns that it was fenced off', async () =>
      Boolean(await other.call('lost')),
    )
    expect(await messages(journal)).toEqual(['theirs', 'mine'])
    expect(store.lost.aborted).toBe(false)
  })

  test('keeps the store locked when the stopped owner is killed and a third process opens it', async () => {
    const { path, other } = await owned()
    await other.kill('SIGSTOP')
    const store = await opened(path, { takeover: true }, { releaseMs: 50 })
    const third = () => openStore(sqliteStore({ path }))
    await expect(third()).rejects.toMatchObject({ code: 'store_owned', details: { pid: process.pid } })
    await other.kill('SIGKILL')
    await expect(third()).rejects.toMatchObject({ code: 'store_owned', details: { pid: process.pid } })
    await (await store.journal('sbx_a')).append([note('mine')])
    await store.close()
    const next = await opened(path)
    expect(await messages(next)).toEqual(['theirs', 'mine'])
  })

  test('makes an owner that writes continuously release its lock', async () => {
    const { path, other } = await owned()
    const fenced = (async () => {
      for (;;) await other.call('append', 'sbx_a', ['theirs'])
    })()
    fenced.catch(() => undefined)
    const store = await opened(path, { takeover: true })
    await expect(fenced).rejects.toMatchObject({ code: 'store_fenced' })
    await store.close()
    const next = await opened(path)
    await (await next.journal('sbx_a')).append([note('mine')])
  })

  test('can be followed by another takeover', async () => {
    const { path, other } = await owned()
    const second = await opened(path, { takeover: true })
    const fenced = await second.journal('sbx_a')
    const third = await opened(path, { takeover: true })
    await expect(fenced.append([note('never')])).rejects.toMatchObject({ code: 'store_fenced' })
    expect(second.lost.aborted).toBe(true)
    await (await third.journal('sbx_a')).append([note('mine')])
    expect(await messages(third)).toEqual(['theirs', 'mine'])
    await expect(openStore(sqliteStore({ path }))).rejects.toMatchObject({ code: 'store_owned' })
    expect(await other.call('lost')).toBe('store_fenced')
  })

  test('opens a store without an owner normally', async () => {
    const path = join(folder(), 'journal.db')
    const store = await opened(path, { takeover: true })
    await expect(openStore(sqliteStore({ path }))).rejects.toMatchObject({ code: 'store_owned' })
    await (await store.journal('sbx_a')).append([note('mine')])
  })
})

/** A store whose living owner is another process, with one event. */
async function owned(): Promise<{ path: string; other: ChildFixture<OwnerProcess> }> {
  const path = join(folder(), 'journal.db')
  const other = await child<OwnerProcess>('./owner.ts')
  await other.call('open', path)
  await other.call('append', 'sbx_a', ['theirs'])
  return { path, other }
}
