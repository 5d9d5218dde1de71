import { chownSync, mkdirSync, renameSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { Handle, isMissing, removeTree } from '@vitrine/archives'
import { type HomeFolders, type PlacedFile, readPlaced, writePlaced } from './placed-record.ts'

/** Removes every file that is on record, and puts the user's own files back. Needs no running machine. */
export async function removeAllPlaced(folders: HomeFolders): Promise<void> {
  const files = readPlaced(folders)
  if (files.length === 0) return
  await removePlaced(folders, files)
  writePlaced(folders, [])
}

/** Removes these files by handles, without following a link: a program of the sandbox may have swapped a directory. */
export async function removePlaced(folders: HomeFolders, files: readonly PlacedFile[]): Promise<void> {
  let home: Handle
  try {
    home = Handle.directory(folders.home)
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  try {
    for (const file of files) await removeOne(home, file)
  } finally {
    home.close()
  }
}

async function removeOne(home: Handle, { path, draft, saved, placed }: PlacedFile): Promise<void> {
  const hasSaved = saved !== undefined && home.lstat(saved) !== undefined
  const directory = openDirectory(home, dirname(path), hasSaved ? 'create' : 'find')
  if (directory === undefined) return
  try {
    await removeTree(directory, draft)
    // The user's own file is still in its place if the host died before it was moved away.
    if (saved === undefined || placed || hasSaved) await removeTree(directory, basename(path))
    if (hasSaved) renameSync(home.at(saved), directory.at(basename(path)))
  } finally {
    directory.close()
  }
}

/** Opens a directory below HOME, one name at a time; undefined if it is missing or is no directory any more. */
function openDirectory(home: Handle, path: string, missing: 'find' | 'create'): Handle | undefined {
  let directory = home.duplicate()
  for (const name of path === '.' ? [] : path.split('/')) {
    if (missing === 'create' && directory.lstat(name) === undefined) createLike(home, directory, name)
    const next = directory.entry(name)
    directory.close()
    if (next === undefined) return undefined
    if (next.kind !== 'directory') {
      next.close()
      return undefined
    }
    directory = next
  }
  return directory
}

/** Creates a directory that belongs to the owner of HOME. */
function createLike(home: Handle, parent: Handle, name: string): void {
  mkdirSync(parent.at(name), { mode: 0o700 })
  const { uid, gid } = home.stats
  if (uid === process.getuid?.()) return
  const created = parent.entry(name)
  if (created === undefined) return
  try {
    chownSync(created.self, uid, gid)
  } finally {
    created.close()
  }
}
