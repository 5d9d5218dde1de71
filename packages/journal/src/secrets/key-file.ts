import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { randomHex } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import { keyBytes } from './seal.ts'
import { secretsUnreadable } from './unreadable.ts'

/** Reads the key; undefined if there is none. Refuses one that other users may read. */
export function readKey(path: string): Uint8Array | undefined {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'ENOENT') return undefined
    if (code === 'ELOOP') throw secretsUnreadable(`the key ${path} is a link`, `put the file itself there`)
    throw secretsUnreadable(
      `the key ${path} cannot be opened (${code})`,
      'let the user of the host read it',
      error,
    )
  }
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw secretsUnreadable(`the key ${path} is no file`, 'put the file back')
    const mode = stats.mode & 0o777
    if ((mode & 0o077) !== 0)
      throw secretsUnreadable(
        `the key ${path} has the mode 0${mode.toString(8)}, so other users may have read it`,
        `\`chmod 600 ${path}\` if they have not`,
      )
    const key = readFileSync(fd)
    if (key.length !== keyBytes)
      throw secretsUnreadable(
        `the key ${path} has ${key.length} bytes, expected ${keyBytes}`,
        'put the whole file back',
      )
    return key
  } finally {
    closeSync(fd)
  }
}

/** Creates a key that only this user may read. It appears complete or not at all, and replaces none. */
export function createKey(path: string): Uint8Array {
  const key = randomBytes(keyBytes)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomHex(4)}`
  writeFileSync(draft, key, { mode: 0o600, flag: 'wx', flush: true })
  try {
    linkSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  return key
}
