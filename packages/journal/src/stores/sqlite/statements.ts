import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** More than we have by far; but readers choose the shapes of scans, and those are many. */
const maxPrepared = 256

/** Prepared once per text, as long as there are not too many. */
export class Statements {
  readonly #db: DatabaseSync
  readonly #prepared = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** Rows come as objects. */
  of(sql: string): StatementSync {
    let statement = this.#prepared.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare(sql)
      this.#cache(sql, statement)
    }
    return statement
  }

  /** Rows come as arrays, which is twice as quick. */
  arrays(sql: string): StatementSync {
    const key = `arrays:${sql}`
    let statement = this.#prepared.get(key)
    if (statement === undefined) {
      statement = this.#db.prepare(sql)
      statement.setReturnArrays(true)
      this.#cache(key, statement)
    }
    return statement
  }

  #cache(key: string, statement: StatementSync): void {
    if (this.#prepared.size >= maxPrepared) this.#prepared.clear()
    this.#prepared.set(key, statement)
  }
}
