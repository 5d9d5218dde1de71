import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseGroups, parseUsers, type User } from '../users.ts'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
const maxBytes = 1024 * 1024
/** The number of ids of a sandbox; beyond them the host's ids belong to other sandboxes. */
const ids = 65_535

/**
 * Reads the current users of a sandbox's writable system. The sandbox's root controls the file, so no symbolic link is
 * followed and no FIFO is waited for.
 */
export function usersOfSystem(system: string): User[] {
  return parseUsers(systemFile(system, 'passwd')).filter(({ uid, gid }) => uid < ids && gid < ids)
}

/** The supplementary groups of a user in the sandbox's writable system. */
export function groupsInSystem(system: string, name: string): number[] {
  return parseGroups(systemFile(system, 'group'), name).filter((gid) => gid < ids)
}

function systemFile(system: string, name: 'passwd' | 'group'): string {
  let fd: number
  try {
    fd = openSync(join(system, 'etc', name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch {
    return ''
  }
  try {
    const stats = fstatSync(fd)
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(fd, 'utf8') : ''
  } finally {
    closeSync(fd)
  }
}
