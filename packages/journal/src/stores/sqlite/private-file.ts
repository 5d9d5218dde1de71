import { closeSync, openSync } from 'node:fs'

/** Creates the database file with mode 0600 before SQLite does. SQLite gives the WAL the same mode. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // It exists and keeps its mode, or it cannot be created and SQLite reports why.
  }
}
