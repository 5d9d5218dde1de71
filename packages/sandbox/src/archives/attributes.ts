import { chmodSync, chownSync, fchmodSync, fchownSync, futimesSync, utimesSync } from 'node:fs'
import type { Handle } from '../files/handle.ts'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** The metadata that an archive stores for a file, directory or link. */
export interface Attributes {
  readonly mode: number
  /** Seconds since 1970. */
  readonly mtime: number
}

/** As far as clocks of file systems go, and further. */
const farthest = 2 ** 40

/** A time as Node takes it: it would read a negative number as now. */
export function timeFor(mtime: number): number | string {
  const near = Math.min(Math.max(mtime, -farthest), farthest)
  return near < 0 ? String(near) : near
}

/** The owner comes first: a change of owner takes bits away. */
export function settleFile(fd: number, { mode, mtime }: Attributes, owner: Owner | undefined): void {
  if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid)
  fchmodSync(fd, mode)
  const time = timeFor(mtime)
  futimesSync(fd, time, time)
}

export function settleDirectory(
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
