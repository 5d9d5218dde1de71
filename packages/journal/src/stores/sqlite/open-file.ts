import { mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { isVitrineError, VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import type { StoreConnectOptions } from '../contract.ts'
import { DatabaseSync } from './database.ts'
import { DamagedRow, resultCode, sqliteCode, storeError } from './errors.ts'
import { OwnerLock, ownedError, raiseEpoch, readEpoch, wasInUse } from './ownership.ts'
import { createPrivateFile } from './private-file.ts'
import { checkIdentity, isVitrineStore, migrate, pragmaNumber, readStoreId } from './schema.ts'

export interface OpenDatabase {
  /** The resolved path; the names of the files beside it are derived from it. */
  readonly path: string
  readonly db: DatabaseSync
  readonly lock: OwnerLock | undefined
  readonly epoch: number
  readonly storeId: string
}

export interface DatabaseSettings {
  readonly synchronous: 'normal' | 'full'
  /** How long a takeover waits for the fenced owner to release its lock before it continues without it. */
  readonly releaseMs: number
}

/** The smallest file size that SQLite writes. */
const smallestDatabase = 512

/** Opens or creates the database, as its only owner or read-only. Errors name the file; a bad file is not changed. */
export async function openDatabase(
  file: string,
  settings: DatabaseSettings,
  { takeover, readOnly }: StoreConnectOptions,
): Promise<OpenDatabase> {
  const path = preparePath(file, readOnly)
  const inUse = wasInUse(path)
  const size = sizeOf(path)
  try {
    // SQLite would discard the WAL of an empty file, and treat a very short file as empty.
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
    // Checkpoint, so that the store survives a later loss of the WAL file.
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    lock.touch()
    return { path, db, lock, epoch, storeId: readStoreId(db) }
  } catch (error) {
    lock.release()
    db.close()
    throw error
  }
}

/** Resolves symlinks, so that a link and its target are one store with one owner. */
function preparePath(file: string, readOnly: boolean): string {
  try {
    if (!readOnly) mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat === undefined) {
      if (readOnly) throw new Error('the file does not exist')
      return file
    }
    if (!stat.isFile()) throw new Error('it is not a regular file')
    return realpathSync(file)
  } catch (error) {
    if (isVitrineError(error)) throw error
    const why = error instanceof Error ? error.message : String(error)
    const code = systemErrorCode(error)
    if (code === 'ENOSPC' || code === 'EDQUOT')
      throw new VitrineError('store_failing', `The disk of ${file} is full.`, {
        cause: error,
        details: { path: file },
      })
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
    `The store ${path} is missing or empty, but was in use before. To start a new store, delete ${path}.owner too.`,
    { details: { path } },
  )
}

/** Checks the file read-only: opening another program's database for writing would recover and checkpoint it. */
async function inspect(path: string): Promise<void> {
  const url = pathToFileURL(path)
  // Without a WAL, `immutable` keeps SQLite from creating files beside it.
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

/** Detects a truncated file before the next checkpoint fills it up with zeros. */
function checkNotTruncated(db: DatabaseSync, path: string): void {
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
  // A reader uses an old snapshot, so the newest pages have to stay in the WAL for now.
  if (checkpoint?.busy !== 0) return
  const expected = pragmaNumber(db, 'page_count') * pragmaNumber(db, 'page_size')
  const { size } = statSync(path)
  if (size < expected) {
    throw new VitrineError(
      'store_corrupt',
      `The store ${path} is truncated: expected ${expected} bytes, got ${size}.`,
      { details: { path, size, expected } },
    )
  }
}

/** Checks the small tables: a journal missing from a damaged index would start anew. The hash chain covers events. */
function checkTables(db: DatabaseSync): void {
  for (const table of ['meta', 'journals', 'open_work']) {
    const found = Object.values(db.prepare(`PRAGMA integrity_check(${table})`).get() ?? {})[0]
    if (found !== 'ok') throw new DamagedRow(String(found))
  }
}

/** Retries while another connection holds a lock, without blocking the event loop. */
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
