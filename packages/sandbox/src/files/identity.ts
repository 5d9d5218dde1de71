import type { Stats } from 'node:fs'
import { VitrineError } from '@vitrine/protocol'
import type { Handle } from './handle.ts'

/** Who acts on files, in the numbers that the disk has. */
export interface Identity {
  readonly name: string
  readonly uid: number
  readonly gids: readonly number[]
  /** Nothing is forbidden to it: the root of its sandbox. */
  readonly all: boolean
  /** Whether files can belong to it here. */
  readonly owns: boolean
}

export type Right = 'read' | 'write' | 'search'

const bits: Readonly<Record<Right, number>> = { read: 4, write: 2, search: 1 }

/** What owner, group and mode say. Access lists are not asked. */
export function may({ mode, uid, gid }: Stats, right: Right, who: Identity): boolean {
  if (who.all) return true
  const shift = uid === who.uid ? 6 : who.gids.includes(gid) ? 3 : 0
  return ((mode >> shift) & bits[right]) !== 0
}

export function must(handle: Handle, right: Right, who: Identity | undefined, path: string): void {
  if (who === undefined || may(handle.stats, right, who)) return
  throw new VitrineError('file_denied', `${path}: the user "${who.name}" may not ${verbs[right]} it.`)
}

export function mustSearch(handle: Handle, who: Identity, path: string): void {
  if (may(handle.stats, 'search', who)) return
  throw new VitrineError(
    'file_denied',
    `${path}: the user "${who.name}" may not enter a directory on the way.`,
  )
}

/** Whether it may take a name out of a directory, or put another in its place. */
export function mustChange(
  directory: Handle,
  entry: Handle | undefined,
  who: Identity | undefined,
  path: string,
): void {
  if (who === undefined) return
  must(directory, 'write', who, path)
  must(directory, 'search', who, path)
  const sticky = (directory.stats.mode & 0o1000) !== 0
  if (!sticky || entry === undefined || who.all) return
  if (entry.stats.uid === who.uid || directory.stats.uid === who.uid) return
  throw new VitrineError('file_denied', `${path}: in a shared directory only its owner may change it.`)
}

const verbs: Readonly<Record<Right, string>> = { read: 'read', write: 'change', search: 'enter' }
