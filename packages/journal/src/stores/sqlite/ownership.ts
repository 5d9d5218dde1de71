import { hostname } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { VitrineError } from '@vitrine/protocol'
import { resultCode, sqliteCode } from './errors.ts'

/** How long a takeover waits for the fenced owner to let go before it goes on without the lock. */
const releaseMs = 3_000

/** Who holds a store. */
interface Owner {
  readonly pid: number
  readonly machine: string
  readonly since: string
}

/** An exclusive transaction on a side file, held as long as the owner lives: the kernel frees it on `kill -9`. */
export class OwnerLock {
  readonly #path: string
  #db: DatabaseSync | undefined

  constructor(storePath: string) {
    this.#path = `${storePath}.owner`
  }

  get held(): boolean {
    return this.#db !== undefined
  }

  /** Takes the lock, or says no at once. */
  tryTake(): boolean {
    if (this.#db) return true
    const db = new DatabaseSync(this.#path)
    try {
      db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
      this.#db = db
      return true
    } catch (error) {
      db.close()
      if (sqliteCode(error) === resultCode.busy) return false
      throw error
    }
  }

  async waitFor(milliseconds = releaseMs): Promise<boolean> {
    const until = performance.now() + milliseconds
    while (!this.tryTake()) {
      if (performance.now() > until) return false
      await sleep(25)
    }
    return true
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
  return Number(db.prepare("SELECT value FROM meta WHERE key = 'epoch'").get()?.value ?? 0)
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
