import { type ErrorCode, isVitrineError, VitrineError } from '@vitrine/protocol'

/** The primary result codes of SQLite that mean something to a user. */
export const resultCode = {
  error: 1,
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
}

/** A row that says what no row of a store can say. */
export class DamagedRow extends Error {}

/** The primary result code of an error of `node:sqlite`, or nothing for another error. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined
  return error.errcode & 0xff
}

/** An error of SQLite as ours; it names the file. */
export function storeError(error: unknown, path: string): VitrineError {
  if (isVitrineError(error)) return error
  const text = error instanceof Error ? error.message : String(error)
  const [code, message] = explain(error, path)
  return new VitrineError(code, `${message} (SQLite: ${text})`, { cause: error, details: { path } })
}

function explain(error: unknown, path: string): [ErrorCode, string] {
  switch (sqliteCode(error)) {
    case resultCode.busy:
    case resultCode.locked:
      return ['store_busy', `The database file ${path} is locked by another program.`]
    case resultCode.full:
      return ['store_failing', `The disk that holds ${path} is full.`]
    case resultCode.ioError:
    case resultCode.readOnly:
      return ['store_failing', `The database file ${path} cannot be written.`]
    case resultCode.cannotOpen:
      return ['store_unavailable', `The database file ${path} cannot be opened.`]
    case resultCode.corrupt:
      return ['store_corrupt', `The database file ${path} is damaged.`]
    case resultCode.error:
      // Our statements are right for our tables, so the tables are not ours any more.
      return ['store_corrupt', `The database file ${path} does not have the tables of a store.`]
    case resultCode.notADatabase:
      return ['store_foreign', `The file ${path} is not a SQLite database.`]
    case undefined:
      return explainNonSqlite(error, path)
    default:
      return ['store_unavailable', `The database file ${path} could not be used.`]
  }
}

/** What `node:sqlite` and JSON say about values, and about a database that was closed. */
function explainNonSqlite(error: unknown, path: string): [ErrorCode, string] {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ERR_INVALID_STATE') return ['store_closed', `The database file ${path} was closed.`]
  if (error instanceof DamagedRow || error instanceof SyntaxError || code === 'ERR_OUT_OF_RANGE') {
    return ['store_corrupt', `The database file ${path} is damaged.`]
  }
  return ['store_unavailable', `The database file ${path} could not be used.`]
}
