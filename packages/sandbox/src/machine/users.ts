import { readFileSync } from 'node:fs'
import { VitrineError } from '@vitrine/protocol'

export interface User {
  readonly name: string
  readonly uid: number
  readonly gid: number
  readonly home: string
}

/** Parses a `passwd` file and skips malformed lines. */
export function parseUsers(passwd: string): User[] {
  return passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid, , home] = line.split(':')
    if (!name || !isNumber(uid) || !isNumber(gid)) return []
    return [{ name, uid: Number(uid), gid: Number(gid), home: home || '/' }]
  })
}

/** Finds a user by name or by number. A number that is not in the list is valid too. */
export function findUser(users: readonly User[], wanted: string): User {
  const found = users.find(({ name, uid }) => name === wanted || String(uid) === wanted)
  if (found !== undefined) return found
  if (isNumber(wanted) && Number(wanted) < 65_535)
    return { name: wanted, uid: Number(wanted), gid: Number(wanted), home: '/' }
  throw new VitrineError('user_unknown', `There is no user "${wanted}" in the sandbox.`)
}

export function usersOfHost(): User[] {
  return parseUsers(readFileSync('/etc/passwd', 'utf8'))
}

export function groupsOfHost(name: string): number[] {
  return parseGroups(readFileSync('/etc/group', 'utf8'), name)
}

/** The supplementary groups of a user in a `group` file. */
export function parseGroups(file: string, name: string): number[] {
  return file.split('\n').flatMap((line) => {
    const [, , gid, members = ''] = line.split(':')
    return isNumber(gid) && members.split(',').includes(name) ? [Number(gid)] : []
  })
}

function isNumber(text: string | undefined): boolean {
  return text !== undefined && /^\d{1,9}$/.test(text)
}
