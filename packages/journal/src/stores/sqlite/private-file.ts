import { closeSync, openSync } from 'node:fs'

/** Makes the file that SQLite would make, but for its owner only. SQLite gives the log beside it the same mode. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // It is there, and keeps the mode it has; or it cannot be made, and SQLite says why.
  }
}
