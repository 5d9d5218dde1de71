import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openStore, sqliteStore } from '../../src/index.ts'
import { messages, note } from '../fixtures/events.ts'
import { folder } from '../fixtures/folder.ts'
import { opened } from '../fixtures/opened.ts'
import { copyOf, expectHonest, killedStore, type Original } from './damage.ts'

let killed: Original

beforeAll(async () => {
  killed = await killedStore()
  return () => killed.remove()
})

describe('a store whose owner was killed', () => {
  test.each(['-shm', '.owner', '.reserve'])('returns every event without its %s file', async (side) => {
    const path = copy()
    expect(existsSync(path + side)).toBe(true)
    rmSync(path + side)
    const store = await opened(path)
    expect(await messages(store)).toHaveLength(60)
    expect(await (await store.journal('sbx_a')).verify()).toMatchObject({ ok: true })
  })

  test('returns the events of the main file without its -wal file, and a remembered head detects the missing ones', async () => {
    const path = copy()
    rmSync(`${path}-wal`)
    const store = await opened(path)
    const journal = await store.journal('sbx_a')
    const left = journal.head.seq
    expect(left).toBe(killed.settled)
    expect(await journal.verify()).toMatchObject({ ok: true })
    expect(await journal.verify({ head: { seq: 60, hash: 'as remembered' } })).toMatchObject({
      ok: false,
      seq: left + 1,
    })
  })

  test('continues from the main file without any side files', async () => {
    const path = copy()
    for (const side of ['-wal', '-shm', '.owner', '.reserve']) rmSync(path + side)
    expect(await expectHonest(path, killed)).toBe('prefix')
  })
})

describe('a store whose whole content was in a WAL that was deleted', () => {
  test('has its tables in the main file', async () => {
    const path = join(folder(), 'journal.db')
    const store = await opened(path)
    expect(statSync(path).size).toBeGreaterThan(4_096)
    await store.close()
  })

  test('is not created again when it has no tables', async () => {
    const path = join(folder(), 'journal.db')
    await (await openStore(sqliteStore({ path }))).close()
    rmSync(path)
    const bare = new DatabaseSync(path)
    bare.exec('PRAGMA journal_mode = WAL')
    bare.close()
    await expect(openStore(sqliteStore({ path }))).rejects.toMatchObject({
      code: 'store_corrupt',
      message: expect.stringContaining(path),
    })
  })
})

describe('a side file', () => {
  test('is rejected with its own path when it is not a lock file, and the store is not changed', async () => {
    const path = copy()
    writeFileSync(`${path}.owner`, 'not a lock at all, '.repeat(400))
    await expect(openStore(sqliteStore({ path }))).rejects.toMatchObject({
      message: expect.stringContaining(`${path}.owner`),
    })
    rmSync(`${path}.owner`)
    expect(await messages(await opened(path))).toHaveLength(60)
  })

  test('disables the reserve, not the store, when it cannot be created', async () => {
    const path = join(folder(), 'journal.db')
    mkdirSync(`${path}.reserve`)
    writeFileSync(join(`${path}.reserve`, 'in the way'), '')
    const store = await opened(path)
    await (await store.journal('sbx_a')).append([note('one')])
    expect(await messages(store)).toEqual(['one'])
  })

  test('reserves one mebibyte', async () => {
    const path = join(folder(), 'journal.db')
    const store = await opened(path)
    expect(statSync(`${path}.reserve`).size).toBe(1024 * 1024)
    expect(statSync(`${path}.reserve`).blocks * 512).toBeGreaterThanOrEqual(1024 * 1024)
    await store.close()
  })
})

function copy(): string {
  const { path, remove } = copyOf(killed)
  onTestFinished(remove)
  return path
}
