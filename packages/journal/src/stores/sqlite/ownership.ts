import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { VitrineError } from '@vitrine/protocol'
import { DatabaseSync } from './database.ts'
import { DamagedRow, resultCode, sqliteCode, storeError } from './errors.ts'
import { createPrivateFile } from './private-file.ts'
import { pragmaNumber } from './schema.ts'

/** The recorded owner of a store. */
interface Owner {
  readonly pid: number
  readonly machine: string
  readonly since: string
}

/**
 * Held while the owner is alive. A hung owner keeps its lock even after it is fenced off, so there are two lock
 * files: a takeover acquires the other one at once, and opening without takeover requires both to be free.
 */
export class OwnerLock {
  readonly #owner: LockFile
  readonly #heir: LockFile

  constructor(storePath: string) {
    this.#owner = new LockFile(`${storePath}.owner`)
    this.#heir = new LockFile(`${storePath}.heir`)
  }

  /** Acquires the store if it has no owner; returns false at once otherwise. */
  tryAcquire(): boolean {
    if (!this.#owner.tryTake()) return false
    if (!this.#heir.exists || this.#heir.tryTake()) {
      this.#heir.release()
      return true
    }
    this.#owner.release()
    return false
  }

  /** Acquires the lock file that the fenced owner does not hold, and waits up to `milliseconds` for the other. */
  async takeOver(milliseconds: number): Promise<void> {
    const until = performance.now() + milliseconds
    while (!this.#acquireBoth() && performance.now() < until) await sleep(25)
    if (this.#owner.held) this.#heir.release()
  }

  /** If two previous owners hung, neither lock file was free at the takeover: acquires them once they are. */
  acquireFreed(): void {
    if (!this.#owner.held && !this.#heir.held) this.#acquireBoth()
    if (this.#owner.held) this.#heir.release()
  }

  #acquireBoth(): boolean {
    const owner = this.#owner.tryTake()
    return this.#heir.tryTake() && owner
  }

  /** Records that the store was used: if its file is empty later, its contents were lost. */
  touch(): void {
    this.#owner.touch()
  }

  release(): void {
    this.#owner.release()
    this.#heir.release()
  }
}

/** Whether a complete store ever existed at this path. */
export function wasInUse(storePath: string): boolean {
  return (statSync(`${storePath}.owner`, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** An exclusive transaction on a small separate database: the kernel releases its lock on `kill -9`. */
class LockFile {
  readonly #path: string
  #db: DatabaseSync | undefined

  constructor(path: string) {
    this.#path = path
  }

  get held(): boolean {
    return this.#db !== undefined
  }

  get exists(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false }) !== undefined
  }

  tryTake(): boolean {
    if (this.#db) return true
    let db: DatabaseSync | undefined
    try {
      createPrivateFile(this.#path)
      db = new DatabaseSync(this.#path, { timeout: 0 })
      // In exclusive locking mode, a commit keeps the lock.
      db.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
      this.#db = db
      return true
    } catch (error) {
      db?.close()
      if (sqliteCode(error) === resultCode.busy) return false
      throw storeError(error, this.#path)
    }
  }

  touch(): void {
    const db = this.#db
    if (db === undefined || pragmaNumber(db, 'user_version') > 0) return
    try {
      db.exec('PRAGMA user_version = 1; COMMIT')
    } catch {
      // The disk is full: the next owner writes the mark.
    }
    if (!db.isTransaction) db.exec('BEGIN EXCLUSIVE')
  }

  release(): void {
    this.#db?.close()
    this.#db = undefined
  }
}

/** Records this process as owner and returns its epoch, which is higher than any before. */
export function raiseEpoch(db: DatabaseSync): number {
  const owner: Owner = { pid: process.pid, machine: hostname(), since: new Date().toISOString() }
  db.exec('BEGIN IMMEDIATE')
  try {
    const epoch = readEpoch(db) + 1
    const put = db.prepare(
      'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
    )
    put.run('epoch', String(epoch))
    put.run('owner', JSON.stringify(owner))
    db.exec('COMMIT')
    return epoch
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

export function readEpoch(db: DatabaseSync): number {
  const value = db.prepare("SELECT value FROM meta WHERE key = 'epoch'").get()?.value
  const epoch = typeof value === 'string' && value !== '' ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(epoch)) throw new DamagedRow(`the epoch is not a number: ${value}`)
  return epoch
}

export function ownedError(path: string, db: DatabaseSync): VitrineError {
  const owner = readOwner(db)
  const who = owner ? `process ${owner.pid} on ${owner.machine} since ${owner.since}` : 'another process'
  return new VitrineError('store_owned', `The store ${path} is owned by ${who}.`, {
    details: { path, ...(owner && { ...owner }) },
  })
}

function readOwner(db: DatabaseSync): Owner | undefined {
  try {
    const value = db.prepare("SELECT value FROM meta WHERE key = 'owner'").get()?.value
    return typeof value === 'string' ? (JSON.parse(value) as Owner) : undefined
  } catch {
    // The owner is still creating the tables: the store is owned, but the owner is not recorded yet.
    return undefined
  }
}
