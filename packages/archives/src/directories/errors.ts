import { type ErrorCode, isVitrineError, VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'

const codes: Readonly<Record<string, readonly [code: ErrorCode, message: (path: string) => string]>> = {
  ENOENT: ['file_not_found', (path) => `There is no ${path}.`],
  EEXIST: ['file_exists', (path) => `${path} already exists.`],
  ENOTDIR: ['file_not_directory', (path) => `${path} or one of its parents is not a directory.`],
  EISDIR: ['file_is_directory', (path) => `${path} is a directory.`],
  ENOTEMPTY: ['directory_not_empty', (path) => `The directory ${path} is not empty.`],
  ELOOP: ['link_loop', (path) => `${path} goes through too many symbolic links.`],
  ENAMETOOLONG: ['path_too_long', (path) => `The path ${shortened(path)} is too long.`],
  EACCES: ['file_denied', (path) => `${path}: permission denied.`],
  EPERM: ['file_denied', (path) => `${path}: operation not permitted.`],
  EROFS: ['file_read_only', (path) => `${path} is on a read-only file system.`],
  ENOSPC: ['disk_full', (path) => `${path}: no space left on the disk.`],
  EDQUOT: ['disk_full', (path) => `${path}: the disk quota is exceeded.`],
  EFBIG: ['disk_full', (path) => `${path} would exceed the largest file size of its file system.`],
  EBUSY: ['file_busy', (path) => `${path} is in use.`],
  ETXTBSY: ['file_busy', (path) => `${path} is a program that is running.`],
  EMFILE: ['files_open', () => 'This process has too many files open.'],
  ENFILE: ['files_open', () => 'This machine has too many files open.'],
  EXDEV: ['unsupported', (path) => `${path} is on another file system: copy it and remove it there.`],
}

/** Turns an error of the operating system into a VitrineError about the path that the caller gave. */
export function fileError(error: unknown, path: string): VitrineError {
  if (isVitrineError(error)) return error
  const errno = systemErrorCode(error)
  const known = errno === undefined ? undefined : codes[errno]
  if (known !== undefined) return new VitrineError(known[0], known[1](shown(path)), { cause: error })
  if (errno === undefined || !(error instanceof Error))
    return new VitrineError('internal', `${shown(path)}: ${String(error)}`, { cause: error })
  return new VitrineError('file_failed', `${shown(path)}: ${errno}.`, { cause: error })
}

function shown(path: string): string {
  return shortened(path.toWellFormed())
}

function shortened(path: string): string {
  return path.length <= 300 ? path : `${path.slice(0, 200)}…${path.slice(-60)}`
}

export function pathOutside(path: string): VitrineError {
  return new VitrineError(
    'path_outside',
    `${shown(path)} is outside the workspace and the granted directories.`,
  )
}

/** Wraps an error of a caller's stream, which must not be reported as an error of the target file. */
export function sourceFailed(name: string, error: unknown): VitrineError {
  if (isVitrineError(error)) return error
  return new VitrineError('file_failed', `${name}: its stream failed: ${String(error)}`, { cause: error })
}

/** Runs a function and names the path in any error that it throws. */
export function withPathInErrors<T>(path: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw fileError(error, path)
  }
}
