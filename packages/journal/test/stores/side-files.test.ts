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

describe('after its owner was killed, a store without its', () => {
  test.each(['-shm', '.owner', '.reserve'])('%s gives back every event', async (side) => {
    const path = copy()
    expect(existsSync(path + side)).toBe(true)
    rmSync(path + side)
    const store = await opened(path)
    expect(await messages(store)).toHaveLength(60)
    expect(await (await store.journal('sbx_a')).verify()).toMatchObject({ ok: true })
  })

  test('-wal gives back what was in the main file, and a remembered head tells what is missing', async () => {
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

  test('side files, all of them, goes on from what was in the main file', async () => {
    const path = copy()
    for (const side of ['-wal', '-shm', '.owner', '.reserve']) rmSync(path + side)
    expect(await expectHonest(path, killed)).toBe('prefix')
  })
})

describe('a store whose whole content was in a log that is gone', () => {
  test('has its layout in the main file all the same', async () => {
    const path = join(folder(), 'journal.db')
    const store = await opened(path)
    expect(statSync(path).size).toBeGreaterThan(4_096)
    await store.close()
  })

  test('and that has no layout left is not laid out anew', async () => {
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
  test('that is no lock is refused by its own name, and the store is left alone', async () => {
    const path = copy()
    writeFileSync(`${path}.owner`, 'not a lock at all, '.repeat(400))
    await expect(openStore(sqliteStore({ path }))).rejects.toMatchObject({
      message: expect.stringContaining(`${path}.owner`),
    })
    rmSync(`${path}.owner`)
    expect(await messages(await opened(path))).toHaveLength(60)
  })

  test('that cannot be had costs the reserve, not the store', async () => {
    const path = join(folder(), 'journal.db')
    mkdirSync(`${path}.reserve`)
    writeFileSync(join(`${path}.reserve`, 'in the way'), '')
    const store = await opened(path)
    await (await store.journal('sbx_a')).append([note('one')])
    expect(await messages(store)).toEqual(['one'])
  })

  test('that holds the reserve is a whole mebibyte', async () => {
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
