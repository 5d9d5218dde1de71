/** The `errno` name of an error from `node:fs`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Whether the group or its file does not exist; the kernel returns `ENODEV` if it was removed while open. */
export function isGone(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'ENOENT' || code === 'ENODEV'
}

/** The message of an error, such as `EACCES: permission denied, mkdir '/sys/fs/cgroup/vitrine'`. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
