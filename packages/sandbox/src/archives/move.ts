import { chmodSync, renameSync } from 'node:fs'
import { fileError } from '../files/errors.ts'
import { errnoOf, type Handle } from '../files/handle.ts'

export interface MovedEntry {
  readonly parent: Handle
  readonly name: string
}

/** Gives something another place on the same file system. */
export function move(from: MovedEntry, to: MovedEntry, told: string): void {
  const rename = () => renameSync(from.parent.at(from.name), to.parent.at(to.name))
  try {
    rename()
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw fileError(error, told)
    moveForbidding(from, rename, told, error)
  }
}

/** A directory that may not be changed cannot get another parent, unless it may be changed for that moment. */
function moveForbidding(
  { parent, name }: MovedEntry,
  rename: () => void,
  told: string,
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
    throw fileError(error, told)
  } finally {
    directory?.close()
  }
}
