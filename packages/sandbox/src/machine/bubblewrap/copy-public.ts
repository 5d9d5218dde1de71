import {
  chmodSync,
  copyFileSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'

const ids = 65_536

/** Copies the world-readable entries of a host folder, with owners mapped into the sandbox's user ids. */
export function copyPublic(from: string, to: string, uids: number): void {
  const { mode, uid, gid } = lstatSync(from)
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)]
    const stat = lstatSync(source, { throwIfNoEntry: false })
    if (stat === undefined) continue
    if (stat.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else if (stat.isDirectory() && (stat.mode & 0o5) === 0o5) {
      copyPublic(source, target, uids)
      continue
    } else if (stat.isFile() && (stat.mode & 0o4) !== 0) {
      copyFileSync(source, target)
      chmodSync(target, stat.mode & 0o777)
    } else continue
    lchownSync(target, uids + (stat.uid % ids), uids + (stat.gid % ids))
  }
  chmodSync(to, mode & 0o777)
  lchownSync(to, uids + (uid % ids), uids + (gid % ids))
}
