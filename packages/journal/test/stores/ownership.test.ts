import { existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openStore, sqliteStore } from '../../src/index.ts'
import { child } from '../fixtures/child.ts'
import { events, everything, messages, note } from '../fixtures/events.ts'
import { eventually } from '../fixtures/eventually.ts'
import { folder } from '../fixtures/folder.ts'
import { opened } from '../fixtures/opened.ts'
import type { OwnerProcess } from '../fixtures/owner.ts'

const owner = () => child<OwnerProcess>('./owner.ts')

describe('a store that another process owns', () => {
  test('is rejected with the pid, machine and start time of its owner', async () => {
    const path = join(folder(), 'journal.db')
    const before = new Date().toISOString()
    const other = await owner()
    await other.call('open', path)
    const error = await openStore(sqliteStore({ path })).catch((refusal: unknown) => refusal)
    expect(error).toMatchObject({
      code: 'store_owned',
      retryable: true,
      details: { path, pid: other.pid, machine: hostname(), since: expect.any(String) },
    })
    const { message, details } = error as { message: string; details: { since: string } }
    expect(message).toContain(String(other.pid))
    expect(message).toContain(hostname())
    expect(message).toContain(details.since)
    expect(details.since >= before).toBe(true)
    expect(details.since <= new Date().toISOString()).toBe(true)
  })

  test('keeps writing after another process was rejected', async () => {
    const path = join(folder(), 'journal.db')
    const other = await owner()
    await other.call('open', path)
    await other.call('append', 'sbx_a', ['one'])
    await expect(openStore(sqliteStore({ path }))).rejects.toMatchObject({ code: 'store_owned' })
    expect(await other.call('append', 'sbx_a', ['two'])).toEqual([2])
    expect(await other.call('lost')).toBeUndefined()
  })

  test('opens at once after `kill -9` with all commits, and closes open work', async () => {
    const path = join(folder(), 'journal.db')
    const other = await owner()
    await other.call('open', path)
    await other.call('append', 'sbx_a', ['one', 'two'])
    await other.call('start', 'sbx_a', 'op_1')
    await other.kill('SIGKILL')
    const store = await opened(path)
    const journal = await store.journal('sbx_a')
    expect(events(await everything(journal)).map(({ type }) => type)).toEqual([
      'log.message',
      'log.message',
      'operation.started',
      'operation.finished',
      'journal.recovered',
    ])
    expect(await journal.verify()).toMatchObject({ ok: true, events: 5 })
    expect((await journal.append([note('three')]))[0]?.seq).toBe(6)
  })

  test('is rejected through a symlink to its file too', async () => {
    const path = join(folder(), 'journal.db')
    const alias = join(folder(), 'alias.db')
    const other = await owner()
    await other.call('open', path)
    symlinkSync(path, alias)
    await expect(openStore(sqliteStore({ path: alias }))).rejects.toMatchObject({
      code: 'store_owned',
      details: { pid: other.pid },
    })
    expect(existsSync(`${alias}.owner`)).toBe(false)
    await other.call('close')
    const store = await opened(alias)
    await (await store.journal('sbx_a')).append([note('through the link')])
  })

  test('is fenced off rather than shared when its lock file was deleted', async () => {
    const path = join(folder(), 'journal.db')
    const other = await owner()
    await other.call('open', path)
    await other.call('append', 'sbx_a', ['one'])
    rmSync(`${path}.owner`)
    const store = await opened(path)
    await expect(other.call('append', 'sbx_a', ['never'])).rejects.toMatchObject({ code: 'store_fenced' })
    await eventually('the former owner learns that it was fenced off', async () =>
      Boolean(await other.call('lost')),
    )
    const journal = await store.journal('sbx_a')
    await journal.append([note('two')])
    expect(await messages(journal)).toEqual(['one', 'two'])
    expect(await journal.verify()).toMatchObject({ ok: true })
  })
})

describe('a store in one process', () => {
  test('cannot be opened twice, and the first one stays open', async () => {
    const path = join(folder(), 'journal.db')
    const store = await opened(path)
    const journal = await store.journal('sbx_a')
    await expect(openStore(sqliteStore({ path }))).rejects.toMatchObject({
      code: 'store_owned',
      details: { pid: process.pid },
    })
    await journal.append([note('still mine')])
    expect(store.lost.aborted).toBe(false)
    expect(await messages(journal)).toEqual(['still mine'])
  })

  test('keeps its lock against other processes after a second opening was rejected', async () => {
    const path = join(folder(), 'journal.db')
    await opened(path)
    await expect(openStore(sqliteStore({ path }))).rejects.toMatchObject({ code: 'store_owned' })
    const other = await owner()
    await expect(other.call('open', path)).rejects.toMatchObject({ code: 'store_owned' })
  })

  test('is the same store when it is opened again after closing', async () => {
    const path = join(folder(), 'journal.db')
    const first = await openStore(sqliteStore({ path }))
    await (await first.journal('sbx_a')).append([note('one')])
    await first.close()
    const second = await opened(path)
    expect(second.id).toBe(first.id)
    expect(await messages(second)).toEqual(['one'])
  })

  test('keeps its path when the process changes its working directory', async () => {
    const here = process.cwd()
    const root = folder()
    const elsewhere = folder()
    onTestFinished(() => process.chdir(here))
    process.chdir(root)
    const driver = sqliteStore({ path: 'journal.db' })
    const first = await openStore(driver)
    process.chdir(elsewhere)
    await (await first.journal('sbx_a')).append([note('one')])
    await first.close()
    const store = await openStore(driver)
    onTestFinished(() => store.close())
    expect(await messages(store)).toEqual(['one'])
    expect(readdirSync(elsewhere)).toEqual([])
    await expect(openStore(sqliteStore({ path: join(root, 'journal.db') }))).rejects.toMatchObject({
      code: 'store_owned',
    })
  })
})
