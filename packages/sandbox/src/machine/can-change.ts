import { lstatSync, realpathSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'

/** A user of the host, with all groups. */
export interface HostUser {
  readonly uid: number
  readonly gids: readonly number[]
}

const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib64']

/**
 * Whether a user can change a file or folder of the host, or put another one in its place. Root can change everything,
 * so that only the system's folders count as unchanged.
 *
 * @example canChange('/home/a/bin', { uid: 1000, gids: [1000] }) // true, if it belongs to that user
 */
export function canChange(path: string, user: HostUser): boolean {
  const real = realPathOf(path)
  if (user.uid === 0) return !isInside(real, systemFolders)
  return canReplace(path, user) || (real !== path && canReplace(real, user))
}

/** Whether a path is one of these folders or in one of them. */
export function isInside(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => `${path}/`.startsWith(folder.endsWith('/') ? folder : `${folder}/`))
}

function canReplace(path: string, user: HostUser): boolean {
  for (let at = path; ; at = dirname(at)) {
    const stat = statOf(at)
    if (
      stat !== undefined &&
      !stat.isSymbolicLink() &&
      mayWrite(stat, user) &&
      (at === path || !isSticky(stat))
    )
      return true
    if (at === dirname(at)) return false
  }
}

/** In a sticky folder such as /tmp, only the owner of an entry can replace it. */
function isSticky({ mode }: Stats): boolean {
  return (mode & 0o1000) !== 0
}

function mayWrite({ uid, gid, mode }: Stats, user: HostUser): boolean {
  // The owner can always give itself the right.
  if (uid === user.uid) return true
  return (mode & (user.gids.includes(gid) ? 0o020 : 0o002)) !== 0
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}
