import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { VitrineError } from '@vitrine/protocol'
import { DamagedRow, resultCode, sqliteCode, storeError } from './errors.ts'
import { createPrivateFile } from './private-file.ts'
import { pragmaNumber } from './schema.ts'

/** Who holds a store. */
interface Owner {
  readonly pid: number
  readonly machine: string
  readonly since: string
}

/**
 * Held as long as the owner lives. An owner that hangs keeps its lock though it is fenced off, so there are two:
 * who takes over holds the other one at once, and an opener must find both free.
 */
export class OwnerLock {
  readonly #owner: LockFile
  readonly #heir: LockFile

  constructor(storePath: string) {
    this.#owner = new LockFile(`${storePath}.owner`)
    this.#heir = new LockFile(`${storePath}.heir`)
  }

  /** Takes the store if nobody has it, or says no at once. */
  tryAcquire(): boolean {
    if (!this.#owner.tryTake()) return false
    if (!this.#heir.exists || this.#heir.tryTake()) {
      this.#heir.release()
      return true
    }
    this.#owner.release()
    return false
  }

  /** Takes what the fenced owner does not hold, and waits a while for it to let go of the rest. */
  async takeOver(milliseconds: number): Promise<void> {
    const until = performance.now() + milliseconds
    while (!this.#acquireBoth() && performance.now() < until) await sleep(25)
    if (this.#owner.held) this.#heir.release()
  }

  /** Two who hung, one after the other, can have left nothing to inherit: what they let go of is taken later. */
  acquireFreed(): void {
    if (!this.#owner.held && !this.#heir.held) this.#acquireBoth()
    if (this.#owner.held) this.#heir.release()
  }

  #acquireBoth(): boolean {
    const owner = this.#owner.tryTake()
    return this.#heir.tryTake() && owner
  }

  /** Leaves a lasting trace of the store: a file that is empty later has lost its contents. */
  mark(): void {
    this.#owner.mark()
  }

  release(): void {
    this.#owner.release()
    this.#heir.release()
  }
}

/** Whether there ever was a whole store here. */
export function wasInUse(storePath: string): boolean {
  return (statSync(`${storePath}.owner`, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** An exclusive transaction on a small database of its own: the kernel frees it on `kill -9`. */
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
      // In the exclusive locking mode a commit keeps the lock.
      db.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
      this.#db = db
      return true
    } catch (error) {
      db?.close()
      if (sqliteCode(error) === resultCode.busy) return false
      throw storeError(error, this.#path)
    }
  }

  mark(): void {
    const db = this.#db
    if (db === undefined || pragmaNumber(db, 'user_version') > 0) return
    try {
      db.exec('PRAGMA user_version = 1; COMMIT')
    } catch {
      // A full disk: the mark is left by the next owner.
    }
    if (!db.isTransaction) db.exec('BEGIN EXCLUSIVE')
  }

  release(): void {
    this.#db?.close()
    this.#db = undefined
  }
}

/** Makes this process the owner on record. The epoch it gets is higher than any before. */
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
    // The owner is still laying out the file: there is nothing to read yet, and it is owned all the same.
    return undefined
  }
}
