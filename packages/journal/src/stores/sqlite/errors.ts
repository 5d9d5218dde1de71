import { type ErrorCode, isVitrineError, VitrineError } from '@vitrine/protocol'

/** The primary result codes of SQLite that mean something to a user. */
export const resultCode = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
}

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
  const [code, message] = explain(sqliteCode(error), path)
  return new VitrineError(code, `${message} (SQLite: ${text})`, { cause: error, details: { path } })
}

function explain(code: number | undefined, path: string): [ErrorCode, string] {
  switch (code) {
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
    case resultCode.notADatabase:
      return ['store_foreign', `The file ${path} is not a SQLite database.`]
    default:
      return ['store_unavailable', `The database file ${path} could not be used.`]
  }
}
