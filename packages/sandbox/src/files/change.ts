import { chmodSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import {
  type FileIdentity,
  type Handle,
  may,
  mustChange,
  type ResolvedPath,
  removeTree,
  TimeSlice,
  walk,
} from '@vitrine/archives'
import { VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import {
  checkMode,
  type FileContext,
  makeDirectory,
  mustBeWritable,
  rootAccess,
  withParents,
} from './file-context.ts'

export function makeDirectories(
  context: FileContext,
  path: string,
  options: { readonly parents?: boolean; readonly mode?: number },
  identity: FileIdentity | undefined,
): void {
  checkMode(options.mode)
  walk(context.roots, path, { identity }, (resolved) => {
    const { entry } = resolved
    const shown = context.roots.displayPath(resolved.path)
    if (entry?.kind === 'directory' && options.parents === true) return
    if (entry !== undefined) throw new VitrineError('file_exists', `${shown} already exists.`)
    mustBeWritable(context, resolved)
    withParents(context, resolved, { parents: options.parents, identity }, (parent, name) =>
      makeDirectory(context, parent, name, resolved.path, identity, {
        mode: options.mode,
        taken: options.parents === true ? 'used' : 'refused',
      }).close(),
    )
  })
}

export function move(
  context: FileContext,
  from: string,
  to: string,
  options: { readonly parents?: boolean },
  identity: FileIdentity | undefined,
): void {
  walk(context.roots, from, { identity, follow: false }, (source) => {
    const { parent, name, entry } = removable(context, source, identity)
    walk(context.roots, to, { identity, follow: false }, (target) => {
      const shown = context.roots.displayPath(target.path)
      mustBeWritable(context, target)
      if (holdsProtected(context, target.path))
        throw new VitrineError('file_read_only', `Something below ${shown} may not be changed.`)
      if (`${target.path}/`.startsWith(`${source.path}/`) && target.path !== source.path)
        throw new VitrineError(
          'argument_invalid',
          `to: ${shown} is inside the directory that is being moved.`,
        )
      if (target.entry?.kind === 'directory' && entry.kind !== 'directory')
        throw new VitrineError('file_is_directory', `${shown} is a directory.`)
      if (target.entry !== undefined && target.parent !== undefined)
        mustChange(target.parent, target.entry, identity, shown)
      if (target.asDirectory && entry.kind !== 'directory')
        throw new VitrineError('file_not_directory', `to: ${shown} would be a file, not a directory.`)
      withParents(context, target, { parents: options.parents, identity }, (into, last) => {
        // rename(2) between two hard links of one file does nothing, so the source is unlinked.
        if (target.path !== source.path && isSame(target.entry, entry)) unlinkSync(parent.at(name))
        else renameSync(parent.at(name), into.at(last))
      })
    })
  })
}

export async function remove(
  context: FileContext,
  path: string,
  options: { readonly recursive?: boolean; readonly force?: boolean; readonly signal?: AbortSignal },
  identity: FileIdentity | undefined,
): Promise<void> {
  const timeSlice = new TimeSlice(options.signal)
  const staged = walk(context.roots, path, { identity, follow: false }, (resolved) => {
    if (resolved.entry === undefined && options.force === true) return undefined
    const { parent, name, entry } = removable(context, resolved, identity)
    if (entry.kind !== 'directory') {
      unlinkSync(parent.at(name))
      return undefined
    }
    if (options.recursive !== true) {
      rmdirSync(parent.at(name))
      return undefined
    }
    if (identity !== undefined) mustBeEmptyable(entry, identity, context.roots.displayPath(resolved.path))
    return moveOutOfTree(context, parent, name)
  })
  if (staged === undefined) return
  try {
    await removeTree(staged.parent, staged.name, timeSlice)
  } finally {
    staged.parent.close()
  }
}

/**
 * Moves a directory into the staging folder by one rename, so that it disappears at once and can be removed slowly. On
 * another file system it stays where it is and is removed in place.
 */
function moveOutOfTree(context: FileContext, parent: Handle, name: string): { parent: Handle; name: string } {
  try {
    return context.staging.take(parent, name)
  } catch (error) {
    if (systemErrorCode(error) !== 'EXDEV') throw error
    return { parent: parent.duplicate(), name }
  }
}

export function changeMode(
  context: FileContext,
  path: string,
  mode: number,
  identity: FileIdentity | undefined,
): void {
  if (mode === undefined) throw new VitrineError('argument_invalid', 'mode: expected permission bits.')
  checkMode(mode)
  walk(context.roots, path, { identity }, (resolved) => {
    const { entry } = resolved
    const shown = context.roots.displayPath(resolved.path)
    if (entry === undefined) throw new VitrineError('file_not_found', `There is no ${shown}.`)
    mustBeWritable(context, resolved)
    if (identity !== undefined && !identity.all && identity.uid !== entry.stats.uid)
      throw new VitrineError('file_denied', `${shown}: only its owner may change its mode.`)
    if (resolved.path === context.roots.root.path && (mode & rootAccess) !== rootAccess)
      throw new VitrineError(
        'argument_invalid',
        `mode: expected at least 0o700 for the workspace itself, got 0o${mode.toString(8)}: commands start there.`,
      )
    chmodSync(entry.self, mode)
  })
}

function isSame(one: Handle | undefined, other: Handle): boolean {
  return one?.kind === 'file' && one.stats.ino === other.stats.ino && one.stats.dev === other.stats.dev
}

/** Whether a read-only grant or a mount lies below a path: moving or removing the path would change or lose it. */
function holdsProtected({ roots }: FileContext, path: string): boolean {
  return roots.hasReadOnlyBelow(path) || roots.mountsBelow(path).length > 0
}

/** Checks that an entry exists and may be removed from its directory. */
function removable(context: FileContext, resolved: ResolvedPath, identity: FileIdentity | undefined) {
  const { parent, name, entry, path } = resolved
  const shown = context.roots.displayPath(path)
  if (entry === undefined) throw new VitrineError('file_not_found', `There is no ${shown}.`)
  if (parent === undefined) throw new VitrineError('argument_invalid', `${shown} cannot be moved or removed.`)
  mustBeWritable(context, resolved)
  if (holdsProtected(context, path))
    throw new VitrineError('file_read_only', `Something below ${shown} may not be changed.`)
  mustChange(parent, entry, identity, shown)
  return { parent, name, entry }
}

/** Checks that a user may remove everything below a directory. */
function mustBeEmptyable(directory: Handle, identity: FileIdentity, shown: string): void {
  const names = directory.names()
  if (names.length === 0) return
  for (const right of ['read', 'write', 'search'] as const)
    if (!may(directory.stats, right, identity))
      throw new VitrineError('file_denied', `${shown}: the user "${identity.name}" may not empty it.`)
  for (const name of names) {
    const entry = directory.entry(name)
    if (entry === undefined) continue
    try {
      mustChange(directory, entry, identity, `${shown}/${name}`)
      if (entry.kind === 'directory') mustBeEmptyable(entry, identity, `${shown}/${name}`)
    } finally {
      entry.close()
    }
  }
}
