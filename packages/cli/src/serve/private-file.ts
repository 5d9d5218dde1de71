import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'

/** Writes a file that only its owner reads: whole or not at all, whatever happens meanwhile. */
export function writePrivately(path: string, text: string): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const file = openSync(draft, 'wx', 0o600)
    try {
      writeSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
