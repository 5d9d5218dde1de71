import { existsSync, readdirSync } from 'node:fs'
import { Handle, isMissing, removeTree } from '@vitrine/archives'
import { removeVolume } from '../disk/volume.ts'
import type { Folders } from '../engine/settings.ts'
import { stagingInside } from '../files/staging.ts'

export function isEmpty({ root, volume }: Folders): boolean {
  if (volume !== undefined && existsSync(volume.image)) return false
  try {
    return readdirSync(root).every((name) => name === stagingInside)
  } catch (error) {
    if (isMissing(error)) return true
    throw error
  }
}

/** Removes everything in a workspace. No process may run in it. */
export async function emptyWorkspace({ root, volume }: Folders): Promise<void> {
  if (volume !== undefined) await removeVolume(volume)
  let directory: Handle
  try {
    directory = Handle.directory(root)
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  try {
    for (const name of directory.names()) await removeTree(directory, name)
  } finally {
    directory.close()
  }
}
