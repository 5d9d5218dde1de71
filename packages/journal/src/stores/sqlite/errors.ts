import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type ErrorCode, isVitrineError, VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'

/** The SQLite primary result codes that get their own message. */
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

/** A row with a value that a store never writes. */
export class DamagedRow extends Error {}

/** The primary result code of a `node:sqlite` error, or undefined for another error. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined
  return error.errcode & 0xff
}

/** Converts a SQLite error to a `VitrineError` that names the file. */
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
      return ['store_failing', `The disk of ${path} is full.`]
    case resultCode.ioError:
    case resultCode.readOnly:
      if (isDiskFull(path)) return ['store_failing', `The disk of ${path} is full.`]
      return ['store_failing', `The database file ${path} cannot be written.`]
    case resultCode.cannotOpen:
      if (isDiskFull(path)) return ['store_failing', `The disk of ${path} is full.`]
      return ['store_unavailable', `The database file ${path} cannot be opened.`]
    case resultCode.corrupt:
      return ['store_corrupt', `The database file ${path} is damaged.`]
    case resultCode.error:
      // The statements match the schema, so the schema of the file has changed.
      return ['store_corrupt', `The database file ${path} does not have the tables of a store.`]
    case resultCode.notADatabase:
      return ['store_foreign', `The file ${path} is not a SQLite database.`]
    case undefined:
      return explainNonSqlite(error, path)
    default:
      return ['store_unavailable', `The database file ${path} could not be used.`]
  }
}

/** SQLite reports a full disk as an I/O error where a file beside the database cannot grow or be created. */
function isDiskFull(path: string): boolean {
  try {
    const { bavail, ffree, files } = statfsSync(dirname(path))
    return bavail === 0 || (files > 0 && ffree === 0)
  } catch {
    return false
  }
}

/** Errors without a SQLite code: damaged values, and a closed database. */
function explainNonSqlite(error: unknown, path: string): [ErrorCode, string] {
  const code = systemErrorCode(error)
  if (code === 'ERR_INVALID_STATE') return ['store_closed', `The database file ${path} was closed.`]
  if (error instanceof DamagedRow || error instanceof SyntaxError || code === 'ERR_OUT_OF_RANGE') {
    return ['store_corrupt', `The database file ${path} is damaged.`]
  }
  return ['store_unavailable', `The database file ${path} could not be used.`]
}
