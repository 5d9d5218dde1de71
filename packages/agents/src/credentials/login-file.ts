import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Login files are small; a larger file is not one. */
export const maxLoginBytes = 256 * 1024

/** Reads a login file; undefined when it is missing, too large, or linked to a path outside of HOME. */
export type ReadLoginFile = (home: string, path: string) => string | undefined

export const readLoginFile: ReadLoginFile = (home, path) => {
  const real = insideHome(home, path)
  return real === undefined ? undefined : readSmall(real)
}

/** Whether the login file exists; does not read it. */
export function hasLoginFile(home: string, path: string): boolean {
  const real = insideHome(home, path)
  return real !== undefined && statSync(real, { throwIfNoEntry: false })?.isFile() === true
}

function insideHome(home: string, path: string): string | undefined {
  try {
    const real = realpathSync(join(home, path))
    return real.startsWith(`${realpathSync(home)}/`) ? real : undefined
  } catch {
    return undefined
  }
}

function readSmall(path: string): string | undefined {
  let fd: number | undefined
  try {
    // The path was resolved before, so a link here is a race; O_NONBLOCK keeps a FIFO from blocking the open.
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stat = fstatSync(fd)
    if (!stat.isFile() || stat.size > maxLoginBytes) return undefined
    const bytes = Buffer.alloc(stat.size)
    const length = readSync(fd, bytes, 0, stat.size, 0)
    return bytes.toString('utf8', 0, length)
  } catch {
    return undefined
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
