import type { SQLOutputValue } from 'node:sqlite'
import type { JournalEvent } from '@vitrine/protocol'
import { Entry } from '../../entry.ts'
import type { Hole, IndexRow, Removal, ScanRange } from '../contract.ts'
import { DamagedRow } from './errors.ts'
import type { JournalRows } from './journal-rows.ts'
import { scanQuery } from './scan.ts'
import type { Statements } from './statements.ts'

const rowsPerInsert = 32
const rowsPerStep = 64
const columnsPerRow = 9
const row = '(?, ?, ?, ?, ?, ?, ?, ?, ?)'
const insertEvents =
  'INSERT INTO events (position, journal, seq, time, type, session, run, hash, body) VALUES '
const insertOne = insertEvents + row
const insertMany = insertEvents + Array(rowsPerInsert).fill(row).join(', ')

/** The tables `events` and `holes`. */
export class EventRows {
  readonly #statements: Statements
  readonly #journals: JournalRows
  /** The parameters of one insert, reused because allocating them costs as much as the insert. */
  readonly #values: (string | number | null)[] = Array(rowsPerInsert * columnsPerRow).fill(null)

  constructor(statements: Statements, journals: JournalRows) {
    this.#statements = statements
    this.#journals = journals
  }

  lastPosition(): number {
    const sql = `SELECT max(coalesce((SELECT max(position) FROM events), 0),
      coalesce((SELECT max(position) FROM holes), 0)) AS last`
    return Number(this.#statements.of(sql).get()?.last)
  }

  insert(entries: readonly Entry[]): void {
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

  /** Deletes events with their blob references, and records the holes. */
  remove({ journal, seqs, droppedHoles, holes }: Removal): void {
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

  /** Reads in steps, so that `maxBytes` stops the scan before all large events are loaded. */
  scan(range: ScanRange): Entry[] {
    const { limit, maxBytes = Number.POSITIVE_INFINITY } = range
    const found: Entry[] = []
    let bytes = 0
    for (let from = range.from; found.length < limit; ) {
      const step = Math.min(rowsPerStep, limit - found.length)
      const rows = this.#rows('position, journal, seq, hash, body', { ...range, from, limit: step })
      for (const row of rows) {
        const entry = this.#entry(row, range.journal)
        found.push(entry)
        from = range.journal === null ? entry.position : entry.seq
        bytes += entry.body.length
        if (bytes >= maxBytes) return found
      }
      if (rows.length < step) break
    }
    return found
  }

  #entry([position, journal, seq, hash, body]: SQLOutputValue[], name: string | null): Entry {
    if (typeof body !== 'string' || typeof hash !== 'string') throw new DamagedRow(`event ${seq} is not text`)
    return new Entry(
      position as number,
      name ?? this.#journals.name(journal as number),
      seq as number,
      hash,
      body,
    )
  }

  index(range: ScanRange): IndexRow[] {
    // The length in UTF-16 code units; SQLite can compute it only for ASCII text.
    const length = 'iif(octet_length(body) = length(body), length(body), body)'
    const columns = `position, seq, time, type, hash, ${length}`
    return this.#rows(columns, range).map(([position, seq, time, type, hash, text]) => ({
      position: position as number,
      seq: seq as number,
      time: time as number,
      type: type as string,
      hash: hash as string,
      bytes: typeof text === 'string' ? text.length : Number(text),
    }))
  }

  #rows(columns: string, range: ScanRange): SQLOutputValue[][] {
    const journal = range.journal === null ? null : this.#journals.find(range.journal)
    if (journal === undefined) return []
    const journals = range.journals?.flatMap((name) => this.#journals.find(name) ?? [])
    const { sql, values } = scanQuery(columns, range, journal, journals)
    // Rows are arrays at run time: `setReturnArrays` is not in the types of `all`.
    return this.#statements.arrays(sql).all(...values) as unknown as SQLOutputValue[][]
  }

  /** The first event of the range whose indexed columns differ from its body. */
  firstIndexMismatch(journal: string, from: number, to: number): number | undefined {
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
    for (const suspect of suspects) if (indexDiffers(suspect)) return Number(suspect.seq)
    return undefined
  }

  holes(journal: string | null, from: number, to: number): Hole[] {
    if (journal === null) {
      const sql = 'SELECT * FROM holes WHERE position >= ? AND position <= ? ORDER BY position'
      return this.#holeRows(this.#statements.of(sql).all(from, to))
    }
    const id = this.#journals.find(journal)
    if (id === undefined) return []
    const sql = 'SELECT * FROM holes WHERE journal = ? AND from_seq <= ? AND to_seq >= ? ORDER BY from_seq'
    return this.#holeRows(this.#statements.of(sql).all(id, to, from))
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
}

/** Compares again with `JSON.parse`, because SQLite handles lone surrogates and deep nesting differently. */
function indexDiffers({ seq, time, type, session, run, body }: Record<string, SQLOutputValue>): boolean {
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

/** The first and last number of each consecutive run in sorted numbers. */
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

/** Caches the last conversion, because many events share a millisecond. */
function timeOf(iso: string): number {
  if (iso !== lastIso) {
    lastIso = iso
    lastTime = Date.parse(iso)
  }
  return lastTime
}
