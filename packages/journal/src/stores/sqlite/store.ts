import { resolve } from 'node:path'
import { checkOptions, storeOptions } from '@vitrine/protocol/options'
import type { StoreDriver } from '../contract.ts'
import { SqliteConnection } from './connection.ts'
import { openDatabase } from './open-file.ts'

export interface SqliteStoreOptions {
  /** The database file. The store also creates `-wal`, `-shm`, `.owner`, `.reserve` and, at a takeover, `.heir` beside it. */
  readonly path: string
  /** With `normal`, commits survive a process crash; with `full`, also a power loss, at about 20 times the cost per commit. */
  readonly synchronous?: 'normal' | 'full'
  /** How long a takeover waits for the fenced owner to release its lock before it continues without it. Default 3 s. */
  readonly releaseMs?: number
}

/**
 * A store in one SQLite file.
 *
 * @example
 * const store = await openStore(sqliteStore({ path: 'data/journal.db' }))
 */
export function sqliteStore(options: SqliteStoreOptions): StoreDriver {
  checkOptions('sqliteStore', storeOptions.sqlite, options ?? {})
  const { path, synchronous = 'normal', releaseMs = 3_000 } = options
  const file = resolve(path)
  return {
    kind: 'sqlite',
    open: async (options) =>
      new SqliteConnection(await openDatabase(file, { synchronous, releaseMs }, options)),
  }
}
