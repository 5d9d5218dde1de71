import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { isVitrineError, VitrineError } from '@vitrine/protocol'
import type { ConnectOptions } from '../contract.ts'
import { resultCode, sqliteCode, storeError } from './errors.ts'
import { OwnerLock, ownedError, raiseEpoch, readEpoch } from './ownership.ts'
import { checkIdentity, isOurs, migrate, pragmaNumber } from './schema.ts'

export interface OpenFile {
  readonly db: DatabaseSync
  readonly lock: OwnerLock | undefined
  readonly epoch: number
}

/** Opens or lays out the file, as its only owner. What is wrong with it is said with its name, and left as it is. */
export async function openFile(
  path: string,
  synchronous: 'normal' | 'full',
  { takeover, readOnly }: ConnectOptions,
): Promise<OpenFile> {
  preparePath(path, readOnly)
  let db: DatabaseSync | undefined
  const lock = readOnly ? undefined : new OwnerLock(path)
  try {
    db = new DatabaseSync(path, { readOnly, timeout: 0 })
    await patiently(() => checkIdentity(db!, path))
    if (!lock) {
      if (!isOurs(db))
        throw new VitrineError('store_foreign', `The file ${path} is not a Vitrine store.`, {
          details: { path },
        })
      return { db, lock, epoch: readEpoch(db) }
    }
    const owned = !lock.tryTake()
    if (owned && !takeover) throw ownedError(path, db)
    db.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA journal_size_limit = 67108864;`,
    )
    await patiently(() => migrate(db!))
    const epoch = await patiently(() => raiseEpoch(db!))
    if (owned) await lock.waitFor()
    if (lock.held) checkWhole(db, path)
    return { db, lock, epoch }
  } catch (error) {
    lock?.release()
    db?.close()
    throw storeError(error, path)
  }
}

function preparePath(path: string, readOnly: boolean): void {
  try {
    if (!readOnly) mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) {
      if (readOnly) throw new Error('there is no such file')
      return
    }
    if (!stat.isFile()) throw new Error('it is not a file')
    if (stat.size === 0 && existsSync(`${path}.owner`)) {
      throw new VitrineError('store_corrupt', `The store ${path} is empty though it was in use before.`, {
        details: { path },
      })
    }
  } catch (error) {
    if (isVitrineError(error)) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new VitrineError('store_unavailable', `The store ${path} cannot be opened: ${why}.`, {
      cause: error,
      details: { path },
    })
  }
}

/** A cut file is found now, rather than by the reader who first needs what is missing. */
function checkWhole(db: DatabaseSync, path: string): void {
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
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

/** A lock held for a moment by someone else is waited for, without blocking the event loop. */
export async function patiently<T>(attempt: () => T, milliseconds = 5_000): Promise<T> {
  const until = performance.now() + milliseconds
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    try {
      return attempt()
    } catch (error) {
      if (sqliteCode(error) !== resultCode.busy || performance.now() > until) throw error
    }
    await sleep(pause)
  }
}
