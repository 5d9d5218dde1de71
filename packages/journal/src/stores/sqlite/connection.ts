import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { type JournalEvent, type OpenWork, VitrineError, type WorkKindName } from '@vitrine/protocol'
import { Entry } from '../../entry.ts'
import type {
  BlobInfo,
  CommitBatch,
  Hole,
  IndexRow,
  JournalHead,
  NewBlob,
  Removal,
  ScanRange,
  StoreConnection,
} from '../contract.ts'
import { blobInfo, blobPart, deleteUnreferenced, insertBlob } from './blobs.ts'
import { DamagedRow, storeError } from './errors.ts'
import { JournalRows } from './journal-rows.ts'
import { type OpenFile, patiently } from './open-file.ts'
import type { OwnerLock } from './ownership.ts'
import { freeReserve, takeReserve } from './reserve.ts'
import { scanQuery } from './scan.ts'
import { Statements } from './statements.ts'

const rowsPerInsert = 32
const columnsPerRow = 9
const row = '(?, ?, ?, ?, ?, ?, ?, ?, ?)'
const insertEvents =
  'INSERT INTO events (position, journal, seq, time, type, session, run, hash, body) VALUES '
const insertOne = insertEvents + row
const insertMany = insertEvents + Array(rowsPerInsert).fill(row).join(', ')

/** One owner's (or reader's) hold on a SQLite store. */
export class SqliteConnection implements StoreConnection {
  readonly storeId: string
  readonly epoch: number
  readonly readOnly: boolean
  readonly #path: string
  readonly #db: DatabaseSync
  readonly #lock: OwnerLock | undefined
  readonly #statements: Statements
  readonly #journals: JournalRows
  #fenced = false
  /** The parameters of one insert, used again for each: making them anew costs as much as the insert. */
  readonly #values: (string | number | null)[] = Array(rowsPerInsert * columnsPerRow).fill(null)

  constructor({ path, db, lock, epoch, storeId }: OpenFile) {
    this.#path = path
    this.#db = db
    this.#lock = lock
    this.epoch = epoch
    this.readOnly = lock === undefined
    this.#statements = new Statements(db)
    this.#journals = new JournalRows(this.#statements)
    this.storeId = storeId
    if (lock) takeReserve(path)
  }

  async commit(batch: CommitBatch): Promise<void> {
    await this.#transaction(() => {
      const of = (sql: string) => this.#statements.of(sql)
      for (const head of batch.heads) this.#journals.save(head)
      this.#insertEntries(batch.entries)
      for (const work of batch.opened) {
        // An id that ended and started again in one batch still has its row.
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
      for (const removal of batch.removals) this.#remove(removal)
    })
  }

  #remove({ journal, seqs, droppedHoles, holes }: Removal): void {
    const of = (sql: string) => this.#statements.of(sql)
    const id = this.#journals.rowId(journal)
    for (const [first, last] of runs(seqs)) {
      of('DELETE FROM events WHERE journal = ? AND seq BETWEEN ? AND ?').run(id, first, last)
      of('DELETE FROM blob_references WHERE journal = ? AND seq BETWEEN ? AND ?').run(id, first, last)
    }
    for (const hole of droppedHoles)
      of('DELETE FROM holes WHERE journal = ? AND from_seq = ?').run(id, hole.from)
    for (const { from, to, position, hash, reason, types } of holes) {
      of(
        'INSERT INTO holes (journal, from_seq, to_seq, position, hash, reason, types) VALUES (?, ?, ?, ?, ?, ?, ?)',
      ).run(id, from, to, position, hash, reason, JSON.stringify(types))
    }
  }

  #insertEntries(entries: readonly Entry[]): void {
    let index = 0
    for (; index + rowsPerInsert <= entries.length; index += rowsPerInsert) {
      for (let row = 0; row < rowsPerInsert; row += 1) this.#fillRow(row, entries[index + row]!)
      this.#statements.of(insertMany).run(...this.#values)
    }
    for (; index < entries.length; index += 1) {
      this.#fillRow(0, entries[index]!)
      this.#statements.of(insertOne).run(...this.#values.slice(0, columnsPerRow))
    }
  }

  #fillRow(row: number, { position, journal, seq, hash, body, event }: Entry): void {
    const values = this.#values
    const first = row * columnsPerRow
    values[first] = position
    values[first + 1] = this.#journals.rowId(journal)
    values[first + 2] = seq
    values[first + 3] = timeOf(event.time)
    values[first + 4] = event.type
    values[first + 5] = event.session ?? null
    values[first + 6] = event.run ?? null
    values[first + 7] = hash
    values[first + 8] = body
  }

  async head(journal: string): Promise<JournalHead | undefined> {
    return this.#use(() => this.#journals.head(journal))
  }

  async journals(): Promise<readonly string[]> {
    return this.#use(() => this.#journals.names())
  }

  async lastPosition(): Promise<number> {
    return this.#use(() =>
      Number(this.#statements.of('SELECT max(position) AS last FROM events').get()?.last ?? 0),
    )
  }

  async scan(range: ScanRange): Promise<Entry[]> {
    return this.#scan('position, journal, seq, hash, body', range, ([position, journal, seq, hash, body]) => {
      if (typeof body !== 'string' || typeof hash !== 'string')
        throw new DamagedRow(`event ${seq} is not text`)
      const name = range.journal ?? this.#journals.name(journal as number)
      return new Entry(position as number, name, seq as number, hash, body)
    })
  }

  async index(range: ScanRange): Promise<IndexRow[]> {
    // Text is counted as JavaScript does; SQLite can do that only where no character takes more than a byte.
    const length = 'iif(octet_length(body) = length(body), length(body), body)'
    const columns = `position, seq, time, type, hash, ${length}`
    return this.#scan(columns, range, ([position, seq, time, type, hash, text]) => ({
      position: position as number,
      seq: seq as number,
      time: time as number,
      type: type as string,
      hash: hash as string,
      bytes: typeof text === 'string' ? text.length : Number(text),
    }))
  }

  #scan<T>(columns: string, range: ScanRange, toRow: (values: SQLOutputValue[]) => T): Promise<T[]> {
    return this.#use(() => {
      const journal = range.journal === null ? null : this.#journals.find(range.journal)
      if (journal === undefined) return []
      const { sql, values } = scanQuery(columns, range, journal)
      // Rows are arrays at run time: `setReturnArrays` is not in the types of `all`.
      const rows = this.#statements.arrays(sql).all(...values) as unknown as SQLOutputValue[][]
      return rows.map(toRow)
    })
  }

  async misfiled(journal: string, from: number, to: number): Promise<number | undefined> {
    return this.#use(() => {
      const suspects = this.#statements
        .of(
          `SELECT seq, time, type, session, run, body FROM events
           WHERE journal = ? AND seq > ? AND seq <= ? AND CASE WHEN json_valid(body) THEN
             type IS NOT body ->> 'type' OR session IS NOT body ->> 'session'
             OR run IS NOT body ->> 'run' OR seq IS NOT body ->> 'seq'
             OR strftime('%Y-%m-%dT%H:%M:%fZ', time / 1000.0, 'unixepoch') IS NOT body ->> 'time'
           ELSE TRUE END ORDER BY seq`,
        )
        .iterate(this.#journals.find(journal) ?? -1, from, to)
      for (const suspect of suspects) if (isMisfiled(suspect)) return Number(suspect.seq)
      return undefined
    })
  }

  async holes(journal: string | null, from: number, to: number): Promise<readonly Hole[]> {
    return this.#use(() => {
      if (journal === null) {
        return this.#holeRows(
          this.#statements
            .of('SELECT * FROM holes WHERE position >= ? AND position <= ? ORDER BY position')
            .all(from, to),
        )
      }
      const id = this.#journals.find(journal)
      if (id === undefined) return []
      return this.#holeRows(
        this.#statements
          .of('SELECT * FROM holes WHERE journal = ? AND from_seq <= ? AND to_seq >= ? ORDER BY from_seq')
          .all(id, to, from),
      )
    })
  }

  #holeRows(rows: Record<string, SQLOutputValue>[]): Hole[] {
    return rows.map((hole) => ({
      journal: this.#journals.name(Number(hole.journal)),
      from: Number(hole.from_seq),
      to: Number(hole.to_seq),
      position: Number(hole.position),
      hash: String(hole.hash),
      reason: String(hole.reason),
      types: JSON.parse(String(hole.types)) as string[],
    }))
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
      // A takeover may have gone ahead of a predecessor that still held the lock.
      if (mine) this.#lock?.settle()
      else this.#letGo()
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
    // What is free belongs to endings until there is room for the reserve again.
    if (takeReserve(this.#path).noRoom)
      throw new VitrineError('store_failing', `The disk that holds ${this.#path} is all but full.`, {
        details: { path: this.#path },
      })
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
      await patiently(() => this.#statements.of('BEGIN IMMEDIATE').run())
      if (this.#readEpoch() !== this.epoch) {
        this.#letGo()
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

  /** What went wrong is the commit's to say: SQLite may have rolled back by itself. */
  #rollBack(): void {
    try {
      if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('ROLLBACK')
    } catch {}
  }

  async #use<T>(query: () => T): Promise<T> {
    try {
      return await patiently(query)
    } catch (error) {
      throw this.#error(error)
    }
  }

  /** A host that was fenced off and has closed its file is told of the cause, not of the closed file. */
  #error(error: unknown): VitrineError {
    return this.#fenced && !this.#db.isOpen ? this.#fencedError() : storeError(error, this.#path)
  }

  /** Who took over waits for it. */
  #letGo(): void {
    this.#fenced = true
    this.#lock?.release()
  }

  #fencedError(): VitrineError {
    return new VitrineError('store_fenced', `Another host took over the store ${this.#path}.`, {
      details: { path: this.#path, epoch: this.epoch },
    })
  }
}

/** SQLite reads JSON a little otherwise: it knows no half of a surrogate pair, and no great depth. */
function isMisfiled({ seq, time, type, session, run, body }: Record<string, SQLOutputValue>): boolean {
  try {
    const event = JSON.parse(String(body)) as Partial<JournalEvent>
    const stored = (text: string | undefined) => text?.toWellFormed() ?? null
    return (
      event.seq !== seq ||
      event.type !== type ||
      stored(event.session) !== session ||
      stored(event.run) !== run ||
      Date.parse(event.time ?? '') !== time
    )
  } catch {
    return true
  }
}

/** Sorted numbers as first and last of each unbroken run. */
function* runs(numbers: readonly number[]): Generator<[number, number]> {
  let first = numbers[0]
  if (first === undefined) return
  let last = first
  for (const number of numbers.slice(1)) {
    if (number !== last + 1) {
      yield [first, last]
      first = number
    }
    last = number
  }
  yield [first, last]
}

let lastIso = ''
let lastTime = 0

/** Many events share a millisecond. */
function timeOf(iso: string): number {
  if (iso !== lastIso) {
    lastIso = iso
    lastTime = Date.parse(iso)
  }
  return lastTime
}
