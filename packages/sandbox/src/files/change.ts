import { chmodSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { VitrineError } from '@vitrine/protocol'
import { checkMode, type FileContext, makeDirectory, mustBeWritable, withParents } from './file-context.ts'
import { errnoOf, type Handle } from './handle.ts'
import { type Identity, may, mustChange } from './identity.ts'
import { removeTree } from './remove-tree.ts'
import { TimeSlice } from './time-slice.ts'
import { type ResolvedPath, walk } from './walk.ts'

export function makeDirectories(
  room: FileContext,
  path: string,
  options: { readonly parents?: boolean; readonly mode?: number },
  as: Identity | undefined,
): void {
  checkMode(options.mode)
  walk(room.places, path, { as }, (spot) => {
    const { entry } = spot
    const told = room.places.displayPath(spot.path)
    if (entry?.kind === 'directory' && options.parents === true) return
    if (entry !== undefined) throw new VitrineError('file_exists', `There is something at ${told} already.`)
    mustBeWritable(room, spot)
    withParents(room, spot, { parents: options.parents, as }, (parent, name) =>
      makeDirectory(room, parent, name, spot.path, as, {
        mode: options.mode,
        taken: options.parents === true ? 'used' : 'refused',
      }).close(),
    )
  })
}

export function move(
  room: FileContext,
  from: string,
  to: string,
  options: { readonly parents?: boolean },
  as: Identity | undefined,
): void {
  walk(room.places, from, { as, follow: false }, (source) => {
    const { parent, name, entry } = removable(room, source, as)
    walk(room.places, to, { as, follow: false }, (target) => {
      const told = room.places.displayPath(target.path)
      mustBeWritable(room, target)
      if (isFixed(room, target.path))
        throw new VitrineError('file_read_only', `Something below ${told} may not be changed.`)
      if (`${target.path}/`.startsWith(`${source.path}/`) && target.path !== source.path)
        throw new VitrineError('argument_invalid', `to: ${told} is inside of what would be moved.`)
      if (target.entry?.kind === 'directory' && entry.kind !== 'directory')
        throw new VitrineError('file_is_directory', `${told} is a directory.`)
      if (target.entry !== undefined && target.parent !== undefined)
        mustChange(target.parent, target.entry, as, told)
      if (target.asDirectory && entry.kind !== 'directory')
        throw new VitrineError('file_not_directory', `to: ${told} would be a file, not a directory.`)
      withParents(room, target, { parents: options.parents, as }, (into, last) => {
        // Between two names of one file a rename does nothing.
        if (target.path !== source.path && isSame(target.entry, entry)) unlinkSync(parent.at(name))
        else renameSync(parent.at(name), into.at(last))
      })
    })
  })
}

export async function remove(
  room: FileContext,
  path: string,
  options: { readonly recursive?: boolean; readonly force?: boolean; readonly signal?: AbortSignal },
  as: Identity | undefined,
): Promise<void> {
  const pace = new TimeSlice(options.signal)
  const parted = walk(room.places, path, { as, follow: false }, (spot) => {
    if (spot.entry === undefined && options.force === true) return undefined
    const { parent, name, entry } = removable(room, spot, as)
    if (entry.kind !== 'directory') {
      unlinkSync(parent.at(name))
      return undefined
    }
    if (options.recursive !== true) {
      rmdirSync(parent.at(name))
      return undefined
    }
    if (as !== undefined) mustEmpty(entry, as, room.places.displayPath(spot.path))
    return takeAway(room, parent, name)
  })
  if (parted === undefined) return
  try {
    await removeTree(parted.parent, parted.name, pace)
  } finally {
    parted.parent.close()
  }
}

/** At once, where its file system is the staging's; what is left goes in its own time. */
function takeAway(room: FileContext, parent: Handle, name: string): { parent: Handle; name: string } {
  try {
    return room.staging.take(parent, name)
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error
    return { parent: parent.duplicate(), name }
  }
}

export function changeMode(room: FileContext, path: string, mode: number, as: Identity | undefined): void {
  if (mode === undefined) throw new VitrineError('argument_invalid', 'mode: expected permission bits.')
  checkMode(mode)
  walk(room.places, path, { as }, (spot) => {
    const { entry } = spot
    const told = room.places.displayPath(spot.path)
    if (entry === undefined) throw new VitrineError('file_not_found', `There is no ${told}.`)
    mustBeWritable(room, spot)
    if (as !== undefined && !as.all && as.uid !== entry.stats.uid)
      throw new VitrineError('file_denied', `${told}: only its owner may change its mode.`)
    chmodSync(entry.self, mode)
  })
}

function isSame(one: Handle | undefined, other: Handle): boolean {
  return one?.kind === 'file' && one.stats.ino === other.stats.ino && one.stats.dev === other.stats.dev
}

/** Something below it may not be changed, or is mounted there and would be lost. */
function isFixed({ places }: FileContext, path: string): boolean {
  return places.guarded(path) || places.mountsBelow(path).length > 0
}

/** What may be taken out of its directory. */
function removable(room: FileContext, spot: ResolvedPath, as: Identity | undefined) {
  const { parent, name, entry, path } = spot
  const told = room.places.displayPath(path)
  if (entry === undefined) throw new VitrineError('file_not_found', `There is no ${told}.`)
  if (parent === undefined)
    throw new VitrineError('argument_invalid', `${told} itself can be neither moved nor removed.`)
  mustBeWritable(room, spot)
  if (isFixed(room, path))
    throw new VitrineError('file_read_only', `Something below ${told} may not be changed.`)
  mustChange(parent, entry, as, told)
  return { parent, name, entry }
}

/** That a user may take everything out of a directory. */
function mustEmpty(directory: Handle, as: Identity, told: string): void {
  const names = directory.names()
  if (names.length === 0) return
  for (const right of ['read', 'write', 'search'] as const)
    if (!may(directory.stats, right, as))
      throw new VitrineError('file_denied', `${told}: the user "${as.name}" may not empty it.`)
  for (const name of names) {
    const entry = directory.entry(name)
    if (entry === undefined) continue
    try {
      mustChange(directory, entry, as, `${told}/${name}`)
      if (entry.kind === 'directory') mustEmpty(entry, as, `${told}/${name}`)
    } finally {
      entry.close()
    }
  }
}
