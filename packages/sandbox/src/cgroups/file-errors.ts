import { systemErrorCode } from '@vitrine/protocol/primitives'
/** Whether the group or its file does not exist; the kernel returns `ENODEV` if it was removed while open. */
export function isGone(error: unknown): boolean {
  const code = systemErrorCode(error)
  return code === 'ENOENT' || code === 'ENODEV'
}

/** The message of an error, such as `EACCES: permission denied, mkdir '/sys/fs/cgroup/vitrine'`. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
