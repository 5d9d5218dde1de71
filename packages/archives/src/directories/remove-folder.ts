import { rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { Handle, isMissing } from './handle.ts'
import { removeTree } from './remove-tree.ts'

/** Removes a folder, if it exists, in slices of time: a large one does not hold up the event loop. */
export async function removeFolder(path: string): Promise<void> {
  // Handles need Linux.
  if (process.platform !== 'linux') return rm(path, { recursive: true, force: true })
  let parent: Handle
  try {
    parent = Handle.directory(dirname(path))
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  try {
    await removeTree(parent, basename(path))
  } finally {
    parent.close()
  }
}
