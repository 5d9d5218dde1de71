import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'

/** The data directory of the sandboxes as a real path without symbolic links; created if it is missing. */
export function dataDirectory(data?: string): string {
  return createAndResolve(
    resolve(data ?? join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'vitrine')),
  )
}

/** Creates a directory if it is missing, and returns its path without symbolic links. */
export function createAndResolve(path: string): string {
  mkdirSync(path, { recursive: true })
  return realpathSync(path)
}

/** An absolute path whose existing part is without symbolic links; creates nothing. */
export function resolveExisting(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  return join(resolveExisting(dirname(path)), basename(path))
}
