import type { DatabaseSync } from 'node:sqlite'
import { type OpenWork, VitrineError, type WorkKindName } from '@vitrine/protocol'
import type { Entry } from '../../entry.ts'
import type {
  BlobInfo,
  CommitBatch,
  Hole,
  IndexRow,
  JournalHead,
  NewBlob,
  ScanRange,
  StoreConnection,
} from '../contract.ts'
import { blobInfo, blobPart, deleteUnreferenced, insertBlob } from './blobs.ts'
import { storeError } from './errors.ts'
import { EventRows } from './event-rows.ts'
import { FilesInPlace } from './files-in-place.ts'
import { JournalRows } from './journal-rows.ts'
import { type OpenDatabase, retryWhileBusy } from './open-file.ts'
import type { OwnerLock } from './ownership.ts'
import { freeReserve, takeReserve } from './reserve.ts'
import { Statements } from './statements.ts'

/** An owner's or reader's connection to a SQLite store. */
export class SqliteConnection implements StoreConnection {
  readonly storeId: string
  readonly epoch: number
  readonly readOnly: boolean
  readonly #path: string
  readonly #db: DatabaseSync
  readonly #lock: OwnerLock | undefined
  readonly #statements: Statements
  readonly #journals: JournalRows
  readonly #events: EventRows
  readonly #files: FilesInPlace
  #fenced = false

  constructor({ path, db, lock, epoch, storeId }: OpenDatabase) {
    this.#path = path
    this.#db = db
    this.#lock = lock
    this.epoch = epoch
    this.readOnly = lock === undefined
    this.#statements = new Statements(db)
    this.#journals = new JournalRows(this.#statements)
    this.#events = new EventRows(this.#statements, this.#journals)
    this.#files = new FilesInPlace(path)
    this.storeId = storeId
    if (lock) takeReserve(path)
  }

  async commit(batch: CommitBatch): Promise<void> {
    await this.#transaction(() => {
      const of = (sql: string) => this.#statements.of(sql)
      for (const head of batch.heads) this.#journals.save(head)
      this.#events.insert(batch.entries)
      for (const work of batch.opened) {
        // Work that ended and started again in one batch still has its row.
        of(
          'INSERT OR REPLACE INTO open_work (journal, kind, id, started_at, context, data) VALUES (?, ?, ?, ?, ?, ?)',
        ).run(
          this.#journals.rowId(work.journal),
          work.kind,
          work.id,
          work.startedAt,
          JSON.stringify(work.context),
          JSON.stringify(work.data),
        )
      }
      for (const { journal, kind, id } of batch.closed) {
        of('DELETE FROM open_work WHERE journal = ? AND kind = ? AND id = ?').run(
          this.#journals.rowId(journal),
          kind,
          id,
        )
      }
      for (const blob of batch.blobs) insertBlob(this.#statements, blob)
      for (const { journal, seq, blob } of batch.references) {
        of('INSERT INTO blob_references (journal, seq, blob) VALUES (?, ?, ?) ON CONFLICT DO NOTHING').run(
          this.#journals.rowId(journal),
          seq,
          blob,
        )
      }
      for (const removal of batch.removals) this.#events.remove(removal)
    })
  }

  async head(journal: string): Promise<JournalHead | undefined> {
    return this.#use(() => this.#journals.head(journal))
  }

  async journals(): Promise<readonly string[]> {
    return this.#use(() => this.#journals.names())
  }

  async lastPosition(): Promise<number> {
    return this.#use(() => this.#events.lastPosition())
  }

  async scan(range: ScanRange): Promise<Entry[]> {
    return this.#use(() => this.#events.scan(range))
  }

  async index(range: ScanRange): Promise<IndexRow[]> {
    return this.#use(() => this.#events.index(range))
  }

  async firstIndexMismatch(journal: string, from: number, to: number): Promise<number | undefined> {
    return this.#use(() => this.#events.firstIndexMismatch(journal, from, to))
  }

  async holes(journal: string | null, from: number, to: number): Promise<readonly Hole[]> {
    return this.#use(() => this.#events.holes(journal, from, to))
  }

  async openWork(): Promise<readonly OpenWork[]> {
    return this.#use(() =>
      this.#statements
        .of('SELECT journal, kind, id, started_at, context, data FROM open_work ORDER BY journal, started_at')
        .all()
        .map((work) => ({
          journal: this.#journals.name(Number(work.journal)),
          kind: String(work.kind) as WorkKindName,
          id: String(work.id),
          startedAt: Number(work.started_at),
          context: JSON.parse(String(work.context)),
          data: JSON.parse(String(work.data)),
        })),
    )
  }

  async putBlob(blob: NewBlob): Promise<void> {
    await this.#transaction(() => insertBlob(this.#statements, blob))
  }

  async blob(hash: string): Promise<BlobInfo | undefined> {
    return this.#use(() => blobInfo(this.#statements, hash))
  }

  async blobPart(hash: string, offset: number, length: number): Promise<Uint8Array> {
    return this.#use(() => blobPart(this.#statements, hash, offset, length))
  }

  async blobBytes(): Promise<number> {
    return this.#use(() =>
      Number(this.#statements.of('SELECT sum(bytes) AS total FROM blobs').get()?.total ?? 0),
    )
  }

  async freeBlobs(before: number): Promise<number> {
    let freed = 0
    await this.#transaction(() => {
      freed = deleteUnreferenced(this.#statements, before)
    })
    return freed
  }

  async sinkCursor(name: string): Promise<number | undefined> {
    const row = await this.#use(() =>
      this.#statements.of('SELECT position FROM sinks WHERE name = ?').get(name),
    )
    return row === undefined ? undefined : Number(row.position)
  }

  async setSinkCursor(name: string, position: number): Promise<void> {
    await this.#transaction(() => {
      this.#statements
        .of(
          'INSERT INTO sinks (name, position) VALUES (?, ?) ON CONFLICT DO UPDATE SET position = excluded.position',
        )
        .run(name, position)
    })
  }

  async owns(): Promise<boolean> {
    return this.#use(() => {
      const mine = this.#readEpoch() === this.epoch
      // A takeover does not wait forever for a hung predecessor, so the lock may be free only now.
      if (mine) this.#lock?.acquireFreed()
      else this.#releaseLock()
      return mine
    })
  }

  async probe(): Promise<void> {
    await this.#transaction(() => {
      this.#statements
        .of(
          "INSERT INTO meta (key, value) VALUES ('probe', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
        )
        .run(`${Date.now()}`.padEnd(32 * 1024))
    })
    // Until the reserve fits again, the free space is for end events only.
    if (takeReserve(this.#path).noRoom)
      throw new VitrineError(
        'store_failing',
        `The disk of ${this.#path} is almost full: no space for the reserve of 1 MiB.`,
        {
          details: { path: this.#path },
        },
      )
  }

  async reserve(action: 'free' | 'take'): Promise<void> {
    if (action === 'free') freeReserve(this.#path)
    else takeReserve(this.#path)
  }

  async close(): Promise<void> {
    try {
      if (this.#db.isOpen) this.#db.close()
    } finally {
      this.#lock?.release()
    }
  }

  #readEpoch(): number {
    return Number(
      Object.values(this.#statements.arrays("SELECT value FROM meta WHERE key = 'epoch'").get() ?? {})[0],
    )
  }

  async #transaction(body: () => void): Promise<void> {
    if (this.readOnly)
      throw new VitrineError('store_read_only', `The store ${this.#path} was opened read-only.`)
    try {
      this.#files.assert()
      await retryWhileBusy(() => this.#statements.of('BEGIN IMMEDIATE').run())
      if (this.#readEpoch() !== this.epoch) {
        this.#releaseLock()
        throw this.#fencedError()
      }
      body()
      this.#statements.of('COMMIT').run()
    } catch (error) {
      this.#rollBack()
      this.#journals.forget()
      throw this.#error(error)
    }
  }

  #rollBack(): void {
    try {
      if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('ROLLBACK')
    } catch {
      // The commit's own error is reported; SQLite may already have rolled back.
    }
  }

  async #use<T>(query: () => T): Promise<T> {
    try {
      return await retryWhileBusy(query)
    } catch (error) {
      throw this.#error(error)
    }
  }

  /** After fencing, reports the takeover instead of the closed database. */
  #error(error: unknown): VitrineError {
    return this.#fenced && !this.#db.isOpen ? this.#fencedError() : storeError(error, this.#path)
  }

  /** Releases the lock, because the new owner waits for it. */
  #releaseLock(): void {
    this.#fenced = true
    this.#lock?.release()
  }

  #fencedError(): VitrineError {
    return new VitrineError('store_fenced', `Another host took over the store ${this.#path}.`, {
      details: { path: this.#path, epoch: this.epoch },
    })
  }
}
