import { mkdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Where sandboxes keep what is theirs, by its one true name; made if it is not there. */
export function dataPlace(data?: string): string {
  return realOrNew(
    resolve(data ?? join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'vitrine')),
  )
}

export function realOrNew(path: string): string {
  mkdirSync(path, { recursive: true })
  return realpathSync(path)
}
