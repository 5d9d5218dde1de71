import { mkdirSync, statSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** What Node made of our code, for the next start, which is a little sooner for it. Without it everything works too. */
export function useCompileCache(): void {
  try {
    const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'vitrine', 'compiled')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (isOurs(folder)) enableCompileCache(folder)
  } catch {
    // A home that cannot be written to is no reason to say anything.
  }
}

/** What is in it will be run: nobody else may have put it there. Under sudo the home can be another's. */
function isOurs(folder: string): boolean {
  const { uid, mode } = statSync(folder)
  return uid === process.getuid?.() && (mode & 0o022) === 0
}
