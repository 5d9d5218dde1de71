import type { JournalHead } from '../contract.ts'
import { DamagedRow } from './errors.ts'
import type { Statements } from './statements.ts'

/** The table `journals`, with a cache of names and row ids. */
export class JournalRows {
  readonly #statements: Statements
  readonly #ids = new Map<string, number>()
  readonly #names = new Map<number, string>()

  constructor(statements: Statements) {
    this.#statements = statements
  }

  find(name: string): number | undefined {
    const known = this.#ids.get(name)
    if (known !== undefined) return known
    const row = this.#statements.of('SELECT id FROM journals WHERE name = ?').get(name)
    return row === undefined ? undefined : this.#remember(Number(row.id), name)
  }

  rowId(name: string): number {
    const id = this.find(name)
    if (id === undefined) throw new Error(`journal ${name} has no row`)
    return id
  }

  name(id: number): string {
    const known = this.#names.get(id)
    if (known !== undefined) return known
    const name = this.#statements.of('SELECT name FROM journals WHERE id = ?').get(id)?.name
    if (typeof name !== 'string') throw new DamagedRow(`there is no journal ${id}`)
    this.#remember(id, name)
    return name
  }

  names(): string[] {
    return this.#statements
      .of('SELECT name FROM journals ORDER BY id')
      .all()
      .map((row) => String(row.name))
  }

  head(name: string): JournalHead | undefined {
    const row = this.#statements
      .of('SELECT incarnation, seq, hash, time, events, bytes, mirror FROM journals WHERE name = ?')
      .get(name)
    if (row === undefined) return undefined
    return {
      id: name,
      incarnation: String(row.incarnation),
      seq: Number(row.seq),
      hash: String(row.hash),
      time: Number(row.time),
      events: Number(row.events),
      bytes: Number(row.bytes),
      mirror: row.mirror === 1,
    }
  }

  save({ id, incarnation, seq, hash, time, events, bytes, mirror }: JournalHead): void {
    this.#statements
      .of(
        `INSERT INTO journals (name, incarnation, seq, hash, time, events, bytes, mirror) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, time = excluded.time,
           events = excluded.events, bytes = excluded.bytes, mirror = excluded.mirror`,
      )
      .run(id, incarnation, seq, hash, time, events, bytes, mirror ? 1 : 0)
  }

  /** Clears the cache after a rollback, which removes rows created in the transaction. */
  forget(): void {
    this.#ids.clear()
    this.#names.clear()
  }

  #remember(id: number, name: string): number {
    this.#ids.set(name, id)
    this.#names.set(id, name)
    return id
  }
}
