import type { Stats } from 'node:fs'
import { VitrineError } from '@vitrine/protocol'
import type { Handle } from './handle.ts'

/** The user that a file operation runs as, with the ids that the host's disk has for it. */
export interface FileIdentity {
  readonly name: string
  readonly uid: number
  readonly gids: readonly number[]
  /** Bypasses all permission checks: root of the sandbox. */
  readonly all: boolean
  /** Whether files in the workspace can be owned by this user. */
  readonly owns: boolean
}

export type Right = 'read' | 'write' | 'search'

const bits: Readonly<Record<Right, number>> = { read: 4, write: 2, search: 1 }

/** Checks owner, group and mode bits. ACLs are not evaluated. */
export function may({ mode, uid, gid }: Stats, right: Right, identity: FileIdentity): boolean {
  if (identity.all) return true
  const shift = uid === identity.uid ? 6 : identity.gids.includes(gid) ? 3 : 0
  return ((mode >> shift) & bits[right]) !== 0
}

export function must(handle: Handle, right: Right, identity: FileIdentity | undefined, path: string): void {
  if (identity === undefined || may(handle.stats, right, identity)) return
  throw new VitrineError('file_denied', `${path}: the user "${identity.name}" may not ${verbs[right]} it.`)
}

export function mustSearch(handle: Handle, identity: FileIdentity, path: string): void {
  if (may(handle.stats, 'search', identity)) return
  throw new VitrineError(
    'file_denied',
    `${path}: the user "${identity.name}" may not enter a directory on the way.`,
  )
}

/** Checks that a user may add, remove or replace an entry of a directory. */
export function mustChange(
  directory: Handle,
  entry: Handle | undefined,
  identity: FileIdentity | undefined,
  path: string,
): void {
  if (identity === undefined) return
  must(directory, 'write', identity, path)
  must(directory, 'search', identity, path)
  const sticky = (directory.stats.mode & 0o1000) !== 0
  if (!sticky || entry === undefined || identity.all) return
  if (entry.stats.uid === identity.uid || directory.stats.uid === identity.uid) return
  throw new VitrineError('file_denied', `${path}: in a shared directory only its owner may change it.`)
}

const verbs: Readonly<Record<Right, string>> = { read: 'read', write: 'change', search: 'enter' }
