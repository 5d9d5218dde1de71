import { chmodSync, chownSync, fchmodSync, fchownSync, futimesSync, utimesSync } from 'node:fs'
import type { Handle } from './directories/handle.ts'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** The attributes of a file or directory that are restored. */
export interface Attributes {
  readonly mode: number
  /** Seconds since 1970. */
  readonly mtime: number
}

/** Beyond the range of every file system's timestamps. */
const maxSeconds = 2 ** 40

/** Converts a time for Node's utimes functions, which take a negative number for the current time. */
export function timeFor(mtime: number): number | string {
  const clamped = Math.min(Math.max(mtime, -maxSeconds), maxSeconds)
  return clamped < 0 ? String(clamped) : clamped
}

/** Sets owner, mode and time of an open file. The owner comes first, because chown clears mode bits. */
export function applyFileAttributes(fd: number, { mode, mtime }: Attributes, owner: Owner | undefined): void {
  if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid)
  fchmodSync(fd, mode)
  const time = timeFor(mtime)
  futimesSync(fd, time, time)
}

export function applyDirectoryAttributes(
  { self }: Handle,
  { mode, mtime }: { readonly mode: number; readonly mtime: number | undefined },
  owner: Owner | undefined,
): void {
  if (owner !== undefined) chownSync(self, owner.uid, owner.gid)
  chmodSync(self, mode)
  if (mtime === undefined) return
  const time = timeFor(mtime)
  utimesSync(self, time, time)
}
