/** The `errno` name of what `node:fs` threw. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** The group, or one of its files, is not there; `ENODEV` when it went while the file was open. */
export function isGone(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'ENOENT' || code === 'ENODEV'
}

/** What a person needs of it: `EACCES: permission denied, mkdir '/sys/fs/cgroup/vitrine'`. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
