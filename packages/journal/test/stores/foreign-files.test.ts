import { spawnSync } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openStore, sqliteStore } from '../../src/index.ts'
import { child } from '../fixtures/child.ts'
import { messages, note } from '../fixtures/events.ts'
import { folder } from '../fixtures/folder.ts'
import { opened } from '../fixtures/opened.ts'
import type { OwnerProcess } from '../fixtures/owner.ts'

describe('a file that is not a store of this version', () => {
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), randomBytes(3_000)])
  test.each([
    ['text', Buffer.from('Dear diary,\n'.repeat(200))],
    ['one letter', Buffer.from('x')],
    ['a picture', png],
    ['zeros', Buffer.alloc(8_192)],
    [
      "SQLite's first bytes and noise behind",
      Buffer.concat([Buffer.from('SQLite format 3\0'), randomBytes(4_080)]),
    ],
  ])('is rejected with its path and not changed: %s', async (_name, bytes) => {
    const path = join(folder(), 'journal.db')
    writeFileSync(path, bytes)
    await refused(path, /^store_(foreign|corrupt)$/)
    await refused(path, /^store_(foreign|corrupt)$/, { readOnly: true })
  })

  test("is rejected when it is another program's database", async () => {
    const path = join(folder(), 'journal.db')
    const db = new DatabaseSync(path)
    db.exec('CREATE TABLE things (a); INSERT INTO things VALUES (1)')
    db.close()
    await refused(path, 'store_foreign')
    await refused(path, 'store_foreign', { readOnly: true })
  })

  test("is rejected when it is another program's database with its own application id and no tables", async () => {
    const path = join(folder(), 'journal.db')
    const db = new DatabaseSync(path)
    db.exec('PRAGMA application_id = 7')
    db.close()
    await refused(path, 'store_foreign')
  })

  test("is rejected when it is another program's database with a WAL that was never checkpointed", async () => {
    const path = join(folder(), 'journal.db')
    dieWriting(path, 'PRAGMA journal_mode = WAL; CREATE TABLE things (a); INSERT INTO things VALUES (1)')
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
    await refused(path, 'store_foreign')
    await refused(path, 'store_foreign', { readOnly: true })
  })

  test("is rejected when it is another program's database with an unfinished transaction", async () => {
    const path = join(folder(), 'journal.db')
    dieWriting(
      path,
      `CREATE TABLE things (a); INSERT INTO things VALUES (1); PRAGMA cache_size = 2; BEGIN;
       INSERT INTO things SELECT randomblob(900) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL
         SELECT i + 1 FROM n LIMIT 2000) SELECT i FROM n)`,
    )
    expect(existsSync(`${path}-journal`)).toBe(true)
    await refused(path, 'store_foreign')
  })

  test('is rejected when it is a store of a newer version', async () => {
    const path = join(folder(), 'journal.db')
    await (await openStore(sqliteStore({ path }))).close()
    const db = new DatabaseSync(path)
    db.exec('PRAGMA user_version = 99')
    db.close()
    const error = await refused(path, 'store_newer')
    expect(error.message).toContain('99')
    await refused(path, 'store_newer', { readOnly: true })
  })

  test('is rejected when it is a store of a newer version whose owner was killed', async () => {
    const path = join(folder(), 'journal.db')
    await (await openStore(sqliteStore({ path }))).close()
    dieWriting(path, "PRAGMA user_version = 99; INSERT INTO meta VALUES ('news', 'of tomorrow')")
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
    await refused(path, 'store_newer')
  })
})

describe('a path', () => {
  test('is rejected when it is a directory', async () => {
    const path = folder()
    await expect(openStore(sqliteStore({ path }))).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(path),
    })
  })

  test('is rejected when it is below a file', async () => {
    const file = join(folder(), 'file')
    writeFileSync(file, 'text')
    const path = join(file, 'journal.db')
    await expect(openStore(sqliteStore({ path }))).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(path),
    })
  })

  test('gets its missing directories, for its owner only', async () => {
    const path = join(folder(), 'deep', 'down', 'journal.db')
    const store = await opened(path)
    await (await store.journal('sbx_a')).append([note('one')])
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700)
  })

  test('is created for its owner only, with its side files, in a directory that others may read', async () => {
    const directory = folder()
    chmodSync(directory, 0o755)
    const store = await opened(join(directory, 'journal.db'))
    await (await store.journal('sbx_a')).append([note('one')])
    const names = readdirSync(directory)
    expect(names).toEqual(expect.arrayContaining(['journal.db', 'journal.db-wal', 'journal.db.owner']))
    for (const name of names) expect([name, statSync(join(directory, name)).mode & 0o077]).toEqual([name, 0])
  })

  test('is rejected in a directory that this user may not write', async () => {
    const root = folder()
    const directory = join(root, 'locked')
    const path = join(directory, 'journal.db')
    mkdirSync(directory)
    chmodSync(root, 0o755)
    chmodSync(directory, 0o555)
    const other = await child<OwnerProcess>('./owner.ts')
    if (process.getuid?.() === 0) await other.call('become', 65_534)
    await expect(other.call('open', path)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(path),
    })
    await expect(other.call('open', join(directory, 'below', 'journal.db'))).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(join(directory, 'below', 'journal.db')),
    })
    expect(readdirSync(directory)).toEqual([])
  })

  test('is rejected when this user may not write the store', async () => {
    const root = folder()
    const path = join(root, 'journal.db')
    await (await openStore(sqliteStore({ path }))).close()
    for (const name of readdirSync(root)) chmodSync(join(root, name), 0o444)
    chmodSync(root, 0o555)
    const other = await child<OwnerProcess>('./owner.ts')
    if (process.getuid?.() === 0) await other.call('become', 65_534)
    await expect(other.call('open', path)).rejects.toMatchObject({
      code: expect.stringMatching(/^store_(unavailable|failing)$/),
      message: expect.stringContaining(path),
    })
    chmodSync(root, 0o755)
  })

  test('may contain a question mark, a space and an accent', async () => {
    const path = join(folder(), 'jour nal?mode=ro#é%20.db')
    const first = await openStore(sqliteStore({ path }))
    await (await first.journal('sbx_a')).append([note('one')])
    await first.close()
    expect(existsSync(path)).toBe(true)
    expect(await messages(await opened(path))).toEqual(['one'])
  })

  test('opens a copied store as the same store', async () => {
    const root = folder()
    const path = join(root, 'journal.db')
    const first = await openStore(sqliteStore({ path }))
    await (await first.journal('sbx_a')).append([note('one')])
    await first.close()
    const copy = join(root, 'copy.db')
    copyFileSync(path, copy)
    const store = await opened(copy)
    expect(store.id).toBe(first.id)
    expect(await messages(store)).toEqual(['one'])
  })
})

/** Opening is rejected with this code and the file's name, and no byte in the folder changes. */
async function refused(
  path: string,
  code: string | RegExp,
  options: { readOnly?: boolean } = {},
): Promise<Error> {
  const before = contents(path)
  const error = await openStore(sqliteStore({ path }), options).then(
    () => new Error('it opened'),
    (refusal: Error) => refusal,
  )
  expect(error).toMatchObject({
    code: typeof code === 'string' ? code : expect.stringMatching(code),
    message: expect.stringContaining(path),
  })
  expect(contents(path)).toEqual(before)
  return error
}

/** The file and the files beside it, without the `-shm` index, which has no content of its own. */
function contents(path: string): Record<string, string> {
  const names = readdirSync(join(path, '..')).filter((name) => !name.endsWith('-shm'))
  return Object.fromEntries(names.map((name) => [name, digest(join(path, '..', name))]))
}

function digest(file: string): string {
  return hash('sha256', readFileSync(file), 'hex')
}

/** Another program that is killed right after it wrote. */
function dieWriting(path: string, sql: string): void {
  const program = `const { DatabaseSync } = require('node:sqlite')
    const db = new DatabaseSync(${JSON.stringify(path)})
    db.exec(${JSON.stringify(sql)})
    process.kill(process.pid, 'SIGKILL')`
  const { signal, stderr } = spawnSync(process.execPath, ['-e', program])
  if (signal !== 'SIGKILL') throw new Error(`The program was not killed: ${stderr}`)
}
