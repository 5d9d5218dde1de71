import { chmodSync, chownSync, fchmodSync, fchownSync, mkdirSync, type Stats } from 'node:fs'
import {
  type AccessRoots,
  type FileIdentity,
  type Handle,
  kindOf,
  mustChange,
  type ResolvedPath,
} from '@vitrine/archives'
import { type FileStat, VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import type { Staging } from './staging.ts'

/** The state that all file operations of one sandbox share. */
export interface FileContext {
  readonly roots: AccessRoots
  readonly staging: Staging
  /** New files are chowned to the owner of the access root they are in; true if the host runs as root. */
  readonly chownsToOwner: boolean
}

/** The part of it that creating an entry needs. */
type NewEntryContext = Pick<FileContext, 'roots' | 'chownsToOwner'>

interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Only root may change the owner of a file. */
export const givesFiles = process.geteuid?.() === 0

/** Removes setuid and setgid, which would make a program run as another user. */
export function plainMode(mode: number): number {
  return mode & 0o1777
}

export function checkMode(mode: number | undefined): void {
  if (mode === undefined || (Number.isInteger(mode) && mode >= 0 && mode <= 0o1777)) return
  throw new VitrineError(
    'argument_invalid',
    `mode: expected permission bits up to 0o1777, got ${typeof mode === 'number' ? `0o${mode.toString(8)}` : String(mode)}.`,
  )
}

/** The bits that the workspace's own directory keeps: without them no command can start in it, to give them back. */
export const rootAccess = 0o700

/** Returns the owner of a file to be created at a path; undefined leaves the host's own user. */
export function ownerAt(
  context: NewEntryContext,
  path: string,
  identity: FileIdentity | undefined,
): Owner | undefined {
  if (identity !== undefined) {
    if (!identity.owns)
      throw new VitrineError(
        'unsupported',
        `Files of the workspace cannot belong to the user "${identity.name}".`,
      )
    return givesFiles ? { uid: identity.uid, gid: identity.gids[0] ?? identity.uid } : undefined
  }
  if (!context.chownsToOwner) return undefined
  const { directory } = context.roots.of(path)
  // The owner may have changed since the directory was opened.
  directory.restat()
  const { uid, gid } = directory.stats
  return { uid, gid }
}

/** Sets the owner of an open file, then its mode: chown clears mode bits. */
export function giveToOwner(fd: number, owner: Owner | undefined, mode: number): void {
  if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid)
  fchmodSync(fd, plainMode(mode))
}

export function mustBeWritable({ roots }: FileContext, { path }: Pick<ResolvedPath, 'path'>): void {
  if (!roots.of(path).writable)
    throw new VitrineError('file_read_only', `${roots.displayPath(path)} is read-only.`)
}

/** Creates the missing parent directories of a path and passes the last one to `use`. */
export function withParents<T>(
  context: NewEntryContext,
  resolved: ResolvedPath,
  options: { readonly parents?: boolean | undefined; readonly identity?: FileIdentity | undefined },
  use: (parent: Handle, name: string) => T,
): T {
  const { parent, missing, path } = resolved
  if (parent === undefined)
    throw new VitrineError('argument_invalid', `${context.roots.displayPath(path)} cannot be replaced.`)
  const names = missing.slice(0, -1)
  if (missing.includes('..') || (names.length > 0 && options.parents !== true))
    throw new VitrineError(
      'file_not_found',
      `The directory of ${context.roots.displayPath(path)} does not exist.`,
    )
  const made: Handle[] = []
  try {
    let here = parent
    for (const name of names) {
      here =
        existingDirectory(here, name) ??
        makeDirectory(context, here, name, path, options.identity, { taken: 'used' })
      made.push(here)
    }
    return use(here, missing.at(-1) ?? resolved.name)
  } finally {
    for (const handle of made) handle.close()
  }
}

/** Returns a directory that another process has created since the path was resolved. */
function existingDirectory(parent: Handle, name: string): Handle | undefined {
  const entry = parent.entry(name)
  if (entry === undefined || entry.kind === 'directory') return entry
  entry.close()
  return undefined
}

export function makeDirectory(
  context: NewEntryContext,
  parent: Handle,
  name: string,
  path: string,
  identity: FileIdentity | undefined,
  {
    mode = 0o755,
    taken = 'refused',
  }: { readonly mode?: number | undefined; readonly taken?: 'used' | 'refused' } = {},
): Handle {
  mustChange(parent, undefined, identity, context.roots.displayPath(path))
  const owner = ownerAt(context, path, identity)
  let fresh = true
  try {
    mkdirSync(parent.at(name), 0o700)
  } catch (error) {
    if (taken === 'refused' || systemErrorCode(error) !== 'EEXIST') throw error
    fresh = false
  }
  const made = parent.entry(name)
  if (made?.kind !== 'directory') {
    made?.close()
    throw new VitrineError(
      'file_busy',
      `${context.roots.displayPath(path)} was changed while it was being created.`,
    )
  }
  // Change the owner only of the directory just created: another process may have replaced it.
  if (!fresh || made.stats.uid !== process.geteuid?.()) return made
  if (owner !== undefined) chownSync(made.self, owner.uid, owner.gid)
  chmodSync(made.self, plainMode(mode))
  // The permission checks of what is created inside read these stats.
  made.restat()
  return made
}

export function fileStat(path: string, stats: Stats, target?: string): FileStat {
  return {
    path,
    kind: kindOf(stats),
    size: stats.size,
    mode: stats.mode & 0o7777,
    modifiedAt: stats.mtime.toISOString(),
    ...(target !== undefined && { target }),
  }
}

export function statOf(context: FileContext, { path, parent, name, entry }: ResolvedPath): FileStat {
  const shown = context.roots.displayPath(path)
  if (entry === undefined) throw new VitrineError('file_not_found', `There is no ${shown}.`)
  return fileStat(shown, entry.stats, entry.kind === 'symlink' ? targetOf(parent, name, shown) : undefined)
}

function targetOf(parent: Handle | undefined, name: string, shown: string): string | undefined {
  try {
    return parent?.readLink(name)
  } catch (error) {
    if (systemErrorCode(error) !== 'EINVAL') throw error
    throw new VitrineError('file_busy', `${shown} was changed while it was being read.`)
  }
}
