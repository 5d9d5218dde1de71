import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** Prepared once per text. Scans have few shapes, so this stays small. */
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
      this.#prepared.set(sql, statement)
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
      this.#prepared.set(key, statement)
    }
    return statement
  }
}
