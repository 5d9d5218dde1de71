/** Stores Node's compiled code in the user's cache directory, so that the next start is faster. A failure is ignored. */
export function useCompileCache(): void {
  try {
    // Not imported: a Node without one of them would not get as far as the check of its version.
    const { mkdirSync } = process.getBuiltinModule('node:fs')
    const { enableCompileCache } = process.getBuiltinModule('node:module')
    const { homedir } = process.getBuiltinModule('node:os')
    const { join } = process.getBuiltinModule('node:path')
    const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'vitrine', 'compiled')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (isWritableOnlyByUs(folder)) enableCompileCache(folder)
  } catch {
    // The cache only saves time: the command works without a writable home directory.
  }
}

/** Code from the cache is executed, so no other user may write to it. Under sudo, HOME can belong to another user. */
function isWritableOnlyByUs(folder: string): boolean {
  const { uid, mode } = process.getBuiltinModule('node:fs').statSync(folder)
  return uid === process.getuid?.() && (mode & 0o022) === 0
}
