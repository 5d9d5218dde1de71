import { type ErrorCode, isVitrineError, VitrineError } from '@vitrine/protocol'
import { errnoOf } from './handle.ts'

const codes: Readonly<Record<string, readonly [code: ErrorCode, message: (path: string) => string]>> = {
  ENOENT: ['file_not_found', (path) => `There is no ${path}.`],
  EEXIST: ['file_exists', (path) => `There is something at ${path} already.`],
  ENOTDIR: [
    'file_not_directory',
    (path) => `${path} is not a directory, or leads through something that is none.`,
  ],
  EISDIR: ['file_is_directory', (path) => `${path} is a directory.`],
  ENOTEMPTY: ['directory_not_empty', (path) => `The directory ${path} is not empty.`],
  ELOOP: ['link_loop', (path) => `The links of ${path} lead nowhere.`],
  ENAMETOOLONG: ['path_too_long', (path) => `The path ${shortened(path)} is too long.`],
  EACCES: ['file_denied', (path) => `${path} may not be used that way.`],
  EPERM: ['file_denied', (path) => `${path} may not be used that way.`],
  EROFS: ['file_read_only', (path) => `${path} is on a read-only file system.`],
  ENOSPC: ['disk_full', (path) => `The disk has no room for ${path}.`],
  EDQUOT: ['disk_full', (path) => `The quota has no room for ${path}.`],
  EFBIG: ['disk_full', (path) => `${path} would be larger than a file can be here.`],
  EBUSY: ['file_busy', (path) => `${path} is in use.`],
  ETXTBSY: ['file_busy', (path) => `${path} is a program that runs.`],
  EMFILE: ['files_open', () => 'This process has too many files open.'],
  ENFILE: ['files_open', () => 'This machine has too many files open.'],
  EXDEV: ['unsupported', (path) => `${path} is on another file system: copy it and remove it there.`],
}

/** What the operating system refused, in words, about a path as the caller gave it. */
export function fileError(error: unknown, path: string): VitrineError {
  if (isVitrineError(error)) return error
  const errno = errnoOf(error)
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

export function outside(path: string): VitrineError {
  return new VitrineError('path_outside', `${shown(path)} leads out of the workspace and of what is granted.`)
}

/** What goes wrong with a stream that was given is not about the files that it is for. */
export function sourceFailed(name: string, error: unknown): VitrineError {
  if (isVitrineError(error)) return error
  return new VitrineError('file_failed', `${name}: its stream failed: ${String(error)}`, { cause: error })
}

/** Runs something and says about which path it failed. */
export function about<T>(path: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw fileError(error, path)
  }
}
