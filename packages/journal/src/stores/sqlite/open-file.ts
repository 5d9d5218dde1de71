import { mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { isVitrineError, VitrineError } from '@vitrine/protocol'
import type { ConnectOptions } from '../contract.ts'
import { DamagedRow, resultCode, sqliteCode, storeError } from './errors.ts'
import { OwnerLock, ownedError, raiseEpoch, readEpoch, wasInUse } from './ownership.ts'
import { createPrivateFile } from './private-file.ts'
import { checkIdentity, isVitrineStore, migrate, pragmaNumber, readStoreId } from './schema.ts'

export interface OpenDatabase {
  /** Where the file really is: what lies beside it has this name too. */
  readonly path: string
  readonly db: DatabaseSync
  readonly lock: OwnerLock | undefined
  readonly epoch: number
  readonly storeId: string
}

export interface DatabaseSettings {
  readonly synchronous: 'normal' | 'full'
  /** How long a takeover waits for the fenced owner to let go before it goes on without it. */
  readonly releaseMs: number
}

/** The least that SQLite writes. */
const smallestDatabase = 512

/** Opens or lays out the file, as its only owner. What is wrong with it is said with its name, and left as it is. */
export async function openDatabase(
  file: string,
  settings: DatabaseSettings,
  { takeover, readOnly }: ConnectOptions,
): Promise<OpenDatabase> {
  const path = preparePath(file, readOnly)
  const inUse = wasInUse(path)
  const size = sizeOf(path)
  try {
    // SQLite would throw away the log of an empty file, and take a very short one for empty.
    if (inUse && !size) throw emptiedError(path)
    if (size && size < smallestDatabase) throw foreignError(path)
    if (size) await inspect(path)
    if (readOnly) return await openReadOnly(path)
    return await openAsOwner(path, settings, { takeover, mustBeStore: inUse && size !== undefined })
  } catch (error) {
    throw storeError(error, path)
  }
}

async function openReadOnly(path: string): Promise<OpenDatabase> {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 0 })
  try {
    return await retryWhileBusy(() => {
      if (!isVitrineStore(db)) throw foreignError(path)
      return { path, db, lock: undefined, epoch: readEpoch(db), storeId: readStoreId(db) }
    })
  } catch (error) {
    db.close()
    throw error
  }
}

async function openAsOwner(
  path: string,
  { synchronous, releaseMs }: DatabaseSettings,
  { takeover, mustBeStore: mustBeOurs }: { takeover: boolean; mustBeStore: boolean },
): Promise<OpenDatabase> {
  const lock = new OwnerLock(path)
  createPrivateFile(path)
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    await retryWhileBusy(() => checkIdentity(db, path))
    if (mustBeOurs && !isVitrineStore(db)) throw emptiedError(path)
    const owned = !lock.tryAcquire()
    if (owned && !takeover) throw ownedError(path, db)
    await retryWhileBusy(() =>
      db.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;`,
      ),
    )
    if (!owned) checkNotTruncated(db, path)
    if (isVitrineStore(db)) checkTables(db)
    await retryWhileBusy(() => migrate(db))
    const epoch = await retryWhileBusy(() => raiseEpoch(db))
    if (owned) await lock.takeOver(releaseMs)
    // Who loses the log later still has a store.
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    lock.mark()
    return { path, db, lock, epoch, storeId: readStoreId(db) }
  } catch (error) {
    lock.release()
    db.close()
    throw error
  }
}

/** A link and what it points to are one store, with one owner. */
function preparePath(file: string, readOnly: boolean): string {
  try {
    if (!readOnly) mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat === undefined) {
      if (readOnly) throw new Error('there is no such file')
      return file
    }
    if (!stat.isFile()) throw new Error('it is not a file')
    return realpathSync(file)
  } catch (error) {
    if (isVitrineError(error)) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new VitrineError('store_unavailable', `The store ${file} cannot be opened: ${why}.`, {
      cause: error,
      details: { path: file },
    })
  }
}

function foreignError(path: string): VitrineError {
  return new VitrineError('store_foreign', `The file ${path} is not a Vitrine store.`, { details: { path } })
}

function emptiedError(path: string): VitrineError {
  return new VitrineError(
    'store_corrupt',
    `The store ${path} is gone or empty though it was in use before. To begin anew, delete ${path}.owner too.`,
    { details: { path } },
  )
}

/** A look that changes nothing: opened to write, another program's database would be recovered and checkpointed. */
async function inspect(path: string): Promise<void> {
  const url = pathToFileURL(path)
  // Without a log the file is taken as it lies, and nothing is put beside it.
  if (!sizeOf(`${path}-wal`)) url.searchParams.set('immutable', '1')
  const db = new DatabaseSync(url, { readOnly: true, timeout: 0 })
  try {
    await retryWhileBusy(() => checkIdentity(db, path))
  } finally {
    db.close()
  }
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

/** A cut file is found now, before the next checkpoint fills it up with zeros. */
function checkNotTruncated(db: DatabaseSync, path: string): void {
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
  // A reader holds an old state, so the newest pages have to stay in the log for now.
  if (checkpoint?.busy !== 0) return
  const expected = pragmaNumber(db, 'page_count') * pragmaNumber(db, 'page_size')
  const { size } = statSync(path)
  if (size < expected) {
    throw new VitrineError(
      'store_corrupt',
      `The store ${path} was cut off: ${size} bytes are there, ${expected} were written.`,
      { details: { path, size, expected } },
    )
  }
}

/** A journal that its index has lost would begin anew. The small tables are looked through; events have their chain. */
function checkTables(db: DatabaseSync): void {
  for (const table of ['meta', 'journals', 'open_work']) {
    const found = Object.values(db.prepare(`PRAGMA integrity_check(${table})`).get() ?? {})[0]
    if (found !== 'ok') throw new DamagedRow(String(found))
  }
}

/** A lock held for a moment by someone else is waited for, without blocking the event loop. */
export async function retryWhileBusy<T>(attempt: () => T, milliseconds = 5_000): Promise<T> {
  for (let pause = 1, until = 0; ; pause = Math.min(pause * 2, 50)) {
    try {
      return attempt()
    } catch (error) {
      if (sqliteCode(error) !== resultCode.busy) throw error
      until ||= performance.now() + milliseconds
      if (performance.now() > until) throw error
    }
    await sleep(pause)
  }
}
