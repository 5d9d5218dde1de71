import { mkdirSync, statSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Stores Node's compiled code in the user's cache directory, so that the next start is faster. A failure is ignored. */
export function useCompileCache(): void {
  try {
    const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'vitrine', 'compiled')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (isWritableOnlyByUs(folder)) enableCompileCache(folder)
  } catch {
    // The cache only saves time: the command works without a writable home directory.
  }
}

/** Code from the cache is executed, so no other user may write to it. Under sudo, HOME can belong to another user. */
function isWritableOnlyByUs(folder: string): boolean {
  const { uid, mode } = statSync(folder)
  return uid === process.getuid?.() && (mode & 0o022) === 0
}
