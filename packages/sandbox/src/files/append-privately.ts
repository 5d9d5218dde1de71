import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { posix } from 'node:path'
import { AccessRoots, type ResolvedPath, walk } from '@vitrine/archives'
import { VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import { givesFiles, giveToOwner, ownerAt, withParents } from './file-context.ts'

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants
const logMode = 0o644

export interface PrivateTarget {
  /** The workspace, on the host. */
  readonly root: string
  /** The directory that the workspace must be, if it is known. */
  readonly directory?: { readonly device: number; readonly inode: number }
  /** Relative to the workspace, without "." and "..". */
  readonly path: string
  /** Called with the path of each directory that is made for the file. */
  onDirectory?(path: string): void
}

/**
 * Appends text to a file of a workspace, whether its sandbox runs or not: all of it or nothing, without an operation. It
 * is synchronous, so that no removal of the workspace runs in between.
 */
export function appendPrivately(target: PrivateTarget, text: string): void {
  const roots = openRoot(target)
  try {
    walk(roots, target.path, { follow: false }, (resolved) => {
      const fd = openLog(roots, target, resolved)
      try {
        appendAll(fd, Buffer.from(text))
      } finally {
        closeSync(fd)
      }
    })
  } finally {
    roots.close()
  }
}

function openRoot({ root, directory }: PrivateTarget): AccessRoots {
  const missing = () => new VitrineError('not_found', `There is no workspace at ${root}.`)
  let roots: AccessRoots
  try {
    roots = AccessRoots.open({ root, home: root, onDisk: () => undefined })
  } catch (error) {
    throw ['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '') ? missing() : error
  }
  const { dev, ino } = roots.root.directory.stats
  if (directory === undefined || (dev === directory.device && ino === directory.inode)) return roots
  roots.close()
  throw missing()
}

function openLog(roots: AccessRoots, { path, onDirectory }: PrivateTarget, resolved: ResolvedPath): number {
  const { entry, missing } = resolved
  // Through another path, the watcher would see each append, which is then an event to append.
  const isElsewhere = resolved.path !== posix.join(roots.root.path, path)
  if (isElsewhere || (entry !== undefined && (entry.kind !== 'file' || entry.stats.nlink > 1)))
    throw new VitrineError('file_not_regular', `${path} is a link or no regular file.`)
  if (entry !== undefined) return entry.open(O_WRONLY | O_APPEND | O_NONBLOCK)
  const context = { roots, chownsToOwner: givesFiles }
  const names = path.split('/')
  for (let depth = names.length - missing.length + 1; depth < names.length; depth += 1)
    onDirectory?.(names.slice(0, depth).join('/'))
  return withParents(context, resolved, { parents: true }, (parent, name) => {
    const fd = openSync(parent.at(name), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_APPEND, 0o600)
    try {
      giveToOwner(fd, ownerAt(context, resolved.path, undefined), logMode)
      return fd
    } catch (error) {
      closeSync(fd)
      throw error
    }
  })
}

function appendAll(fd: number, bytes: Uint8Array): void {
  const { size: before } = fstatSync(fd)
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
  } catch (error) {
    ftruncateSync(fd, before)
    throw error
  }
}
