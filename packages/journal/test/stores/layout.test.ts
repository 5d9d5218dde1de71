import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { openStore, sqliteStore } from '../../src/index.ts'
import { messages, note, numbers } from '../fixtures/events.ts'
import { folder } from '../fixtures/folder.ts'
import { opened } from '../fixtures/opened.ts'

describe('a store whose owner was killed while it created the tables', () => {
  test('is created by the next owner when nothing was written', async () => {
    const path = join(folder(), 'journal.db')
    writeFileSync(path, '')
    writeFileSync(`${path}.owner`, '')
    await works(path)
  })

  test('is created by the next owner when only the journal mode was set', async () => {
    const path = join(folder(), 'journal.db')
    sql(path, 'PRAGMA journal_mode = WAL')
    writeFileSync(`${path}.owner`, '')
    expect(statSync(path).size).toBe(4_096)
    await works(path)
  })

  test('is created by the next owner when the transaction was not committed', async () => {
    const path = join(folder(), 'journal.db')
    sql(
      path,
      'PRAGMA journal_mode = WAL; BEGIN; CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)',
    )
    writeFileSync(`${path}.owner`, '')
    await works(path)
  })
})

test('a store can be opened after its owner was killed at any step of creating it', async () => {
  const root = folder()
  const killed = numbers(1, 12).map(async (step) => {
    const path = join(root, `${step}.db`)
    const fixture = fileURLToPath(new URL('../fixtures/die-opening.ts', import.meta.url))
    const host = spawn(process.execPath, ['--conditions=source', fixture, path, `${step}`])
    const [, signal] = await once(host, 'exit')
    expect(signal).toBe('SIGKILL')
    return path
  })
  for (const path of await Promise.all(killed)) await works(path)
})

describe('a database with the application id of Vitrine', () => {
  test('is rejected as damaged with some tables and no version', async () => {
    const path = join(folder(), 'journal.db')
    sql(
      path,
      `PRAGMA journal_mode = WAL; PRAGMA application_id = ${0x56_49_54_52};
       CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT`,
    )
    await refused(path)
  })

  test.each(['meta', 'journals', 'events', 'open_work'])(
    'is rejected as damaged without its table %s',
    async (table) => {
      const path = join(folder(), 'journal.db')
      await (await openStore(sqliteStore({ path }))).close()
      sql(path, `DROP TABLE ${table}`)
      await refused(path)
    },
  )

  test('is rejected as damaged when the index does not find journals by name', async () => {
    const path = join(folder(), 'journal.db')
    const store = await openStore(sqliteStore({ path }))
    await (await store.journal('sbx_a')).append([note('one')])
    await store.close()
    const db = new DatabaseSync(path)
    const index = db
      .prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?')
      .get('sqlite_autoindex_journals_1')
    db.close()
    const bytes = readFileSync(path)
    // Sets the number of entries on the index page to zero.
    bytes.writeUInt16BE(0, (Number(index?.rootpage) - 1) * 4_096 + 3)
    writeFileSync(path, bytes)
    await refused(path)
  })

  test('is rejected as damaged when its epoch is not a number', async () => {
    const path = join(folder(), 'journal.db')
    await (await openStore(sqliteStore({ path }))).close()
    sql(path, "UPDATE meta SET value = 'many' WHERE key = 'epoch'")
    await refused(path)
  })

  test('is rejected as damaged without the store id', async () => {
    const path = join(folder(), 'journal.db')
    await (await openStore(sqliteStore({ path }))).close()
    sql(path, "DELETE FROM meta WHERE key = 'store'")
    await refused(path)
  })

  test('is rejected as damaged when its open work cannot be parsed', async () => {
    const path = join(folder(), 'journal.db')
    const store = await openStore(sqliteStore({ path }))
    await (await store.journal('sbx_a')).append([note('one')])
    await store.close()
    sql(path, "INSERT INTO open_work VALUES (1, 'operation', 'op_1', 1, '{', '{}')")
    await refused(path)
  })
})

test('a new store is created once: its second owner finds the same store with a higher epoch', async () => {
  const path = join(folder(), 'journal.db')
  const first = await openStore(sqliteStore({ path }))
  await first.close()
  const second = await openStore(sqliteStore({ path }))
  await second.close()
  expect(second.id).toBe(first.id)
  const db = new DatabaseSync(path, { readOnly: true })
  expect(db.prepare("SELECT value FROM meta WHERE key = 'epoch'").get()).toMatchObject({ value: '2' })
  expect(db.prepare('PRAGMA user_version').get()).toMatchObject({ user_version: 1 })
  db.close()
})

test.each(['normal', 'full'] as const)(
  'a store with synchronous %s keeps its events',
  async (synchronous) => {
    const path = join(folder(), 'journal.db')
    const store = await openStore(sqliteStore({ path, synchronous }))
    await (await store.journal('sbx_a')).append([note('one')])
    await store.close()
    expect(existsSync(`${path}-wal`)).toBe(false)
    expect(await messages(await opened(path))).toEqual(['one'])
  },
)

async function works(path: string): Promise<void> {
  const store = await openStore(sqliteStore({ path }))
  await (await store.journal('sbx_a')).append([note('one')])
  await store.close()
  expect(await messages(await opened(path))).toEqual(['one'])
}

async function refused(path: string): Promise<void> {
  await expect(openStore(sqliteStore({ path }))).rejects.toMatchObject({
    code: 'store_corrupt',
    message: expect.stringContaining(path),
  })
}

function sql(path: string, statements: string): void {
  const db = new DatabaseSync(path)
  db.exec(statements)
  db.close()
}
