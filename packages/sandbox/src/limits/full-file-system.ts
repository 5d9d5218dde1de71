import { statfsSync } from 'node:fs'

const mostLeft = 1024 * 1024

/** Whether a file system has no room: a write of a few pages may still succeed, one of more fails. */
export function isFull({ bsize, blocks, bavail, files, ffree }: FileSystemState): boolean {
  return bavail * bsize < Math.min(mostLeft, (blocks * bsize) / 100) || (files > 0 && ffree === 0)
}

export type FileSystemState = Readonly<Record<'bsize' | 'blocks' | 'bavail' | 'files' | 'ffree', number>>

/** Whether the file system of a folder is full; false if that cannot be read. */
export function isFullAt(folder: string): boolean {
  try {
    return isFull(statfsSync(folder))
  } catch {
    return false
  }
}
