import { chmodSync, chownSync, fchmodSync, fchownSync, mkdirSync, type Stats } from 'node:fs'
import { type FileStat, VitrineError } from '@vitrine/protocol'
import type { AccessRoots } from './access-roots.ts'
import { errnoOf, type Handle, kindOf } from './handle.ts'
import { type Identity, mustChange } from './identity.ts'
import type { Staging } from './staging.ts'
import type { ResolvedPath } from './walk.ts'

/** What functions on files work in. */
export interface FileContext {
  readonly places: AccessRoots
  readonly staging: Staging
  /** True where what is made is given to the owner of the place that it is made in: under a host that is root. */
  readonly chownsToOwner: boolean
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Only root gives files to others. */
export const givesFiles = process.geteuid?.() === 0

/** Bits that would make a program run as somebody else are never given. */
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

/** Who will own what is made at a path. */
export function ownerAt(room: FileContext, path: string, as: Identity | undefined): Owner | undefined {
  if (as !== undefined) {
    if (!as.owns)
      throw new VitrineError('unsupported', `Files of the workspace cannot belong to the user "${as.name}".`)
    return givesFiles ? { uid: as.uid, gid: as.gids[0] ?? as.uid } : undefined
  }
  if (!room.chownsToOwner) return undefined
  const { directory } = room.places.of(path)
  // It may have changed hands since it was opened.
  directory.restat()
  const { uid, gid } = directory.stats
  return { uid, gid }
}

/** Gives what is behind a descriptor its owner, then its mode: a change of owner would take bits away. */
export function giveToOwner(fd: number, owner: Owner | undefined, mode: number): void {
  if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid)
  fchmodSync(fd, plainMode(mode))
}

export function mustBeWritable({ places }: FileContext, { path }: Pick<ResolvedPath, 'path'>): void {
  if (!places.of(path).writable)
    throw new VitrineError('file_read_only', `${places.displayPath(path)} may be read, not changed.`)
}

/** Makes the directories on the way to what is missing, and hands over the last. */
export function withParents<T>(
  room: FileContext,
  spot: ResolvedPath,
  options: { readonly parents?: boolean | undefined; readonly as?: Identity | undefined },
  use: (parent: Handle, name: string) => T,
): T {
  const { parent, missing, path } = spot
  if (parent === undefined)
    throw new VitrineError('argument_invalid', `${room.places.displayPath(path)} cannot be replaced.`)
  const names = missing.slice(0, -1)
  if (missing.includes('..') || (names.length > 0 && options.parents !== true))
    throw new VitrineError(
      'file_not_found',
      `The directory of ${room.places.displayPath(path)} does not exist.`,
    )
  const made: Handle[] = []
  try {
    let here = parent
    for (const name of names) {
      here = madeAlready(here, name) ?? makeDirectory(room, here, name, path, options.as, { taken: 'used' })
      made.push(here)
    }
    return use(here, missing.at(-1) ?? spot.name)
  } finally {
    for (const handle of made) handle.close()
  }
}

/** By somebody else, since the path was followed. */
function madeAlready(parent: Handle, name: string): Handle | undefined {
  const entry = parent.entry(name)
  if (entry === undefined || entry.kind === 'directory') return entry
  entry.close()
  return undefined
}

export function makeDirectory(
  room: FileContext,
  parent: Handle,
  name: string,
  path: string,
  as: Identity | undefined,
  {
    mode = 0o755,
    taken = 'refused',
  }: { readonly mode?: number | undefined; readonly taken?: 'used' | 'refused' } = {},
): Handle {
  mustChange(parent, undefined, as, room.places.displayPath(path))
  const owner = ownerAt(room, path, as)
  let fresh = true
  try {
    mkdirSync(parent.at(name), 0o700)
  } catch (error) {
    if (taken === 'refused' || errnoOf(error) !== 'EEXIST') throw error
    fresh = false
  }
  const made = parent.entry(name)
  if (made?.kind !== 'directory') {
    made?.close()
    throw new VitrineError('file_busy', `${room.places.displayPath(path)} was changed while it was made.`)
  }
  // Only what was made just now: something else may have taken its place.
  if (!fresh || made.stats.uid !== process.geteuid?.()) return made
  if (owner !== undefined) chownSync(made.self, owner.uid, owner.gid)
  chmodSync(made.self, plainMode(mode))
  // What is made in it next is judged by what it is now.
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

export function statOf(room: FileContext, { path, parent, name, entry }: ResolvedPath): FileStat {
  const told = room.places.displayPath(path)
  if (entry === undefined) throw new VitrineError('file_not_found', `There is no ${told}.`)
  return fileStat(told, entry.stats, entry.kind === 'symlink' ? targetOf(parent, name, told) : undefined)
}

function targetOf(parent: Handle | undefined, name: string, told: string): string | undefined {
  try {
    return parent?.readLink(name)
  } catch (error) {
    if (errnoOf(error) !== 'EINVAL') throw error
    throw new VitrineError('file_busy', `${told} was changed while it was looked at.`)
  }
}
