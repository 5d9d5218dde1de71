import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
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
  await withDirectory(root, async (directory) => {
    for (const name of directory.names()) await removeTree(directory, name)
  })
}

export async function removeFolder(path: string): Promise<void> {
  await withDirectory(dirname(path), (parent) => removeTree(parent, basename(path)))
}

async function withDirectory(path: string, run: (directory: Handle) => Promise<void>): Promise<void> {
  let directory: Handle
  try {
    directory = Handle.directory(path)
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  try {
    await run(directory)
  } finally {
    directory.close()
  }
}
