import { chmodSync, renameSync } from 'node:fs'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import { fileError } from './directories/errors.ts'
import type { Handle } from './directories/handle.ts'

export interface EntryName {
  readonly parent: Handle
  readonly name: string
}

/** Renames an entry within a file system. */
export function move(from: EntryName, to: EntryName, shownPath: string): void {
  const rename = () => renameSync(from.parent.at(from.name), to.parent.at(to.name))
  try {
    rename()
  } catch (error) {
    if (systemErrorCode(error) !== 'EACCES') throw fileError(error, shownPath)
    moveWithWriteAccess(from, rename, shownPath, error)
  }
}

/** Renames a directory that is not writable: it needs write permission for the duration of the rename. */
function moveWithWriteAccess(
  { parent, name }: EntryName,
  rename: () => void,
  shownPath: string,
  denied: unknown,
): void {
  const directory = parent.entry(name)
  try {
    if (directory?.kind !== 'directory') throw denied
    const mode = directory.stats.mode & 0o7777
    chmodSync(directory.self, mode | 0o700)
    try {
      rename()
    } finally {
      chmodSync(directory.self, mode)
    }
  } catch (error) {
    throw fileError(error, shownPath)
  } finally {
    directory?.close()
  }
}
