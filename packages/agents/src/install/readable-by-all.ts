import { chmodSync, lchownSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as immediately } from 'node:timers/promises'

const sliceMs = 5

/**
 * Makes a tree readable for all users and writable only for its owner, because agents run as another user. Links are
 * not followed. The tree must not change meanwhile.
 */
export async function makeReadableByAll(folder: string): Promise<void> {
  const owner = process.getuid?.() === 0 ? { uid: 0, gid: 0 } : undefined
  const paths = [folder]
  let sliceStart = performance.now()
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    const stat = lstatSync(path)
    if (owner !== undefined && (stat.uid !== 0 || stat.gid !== 0)) lchownSync(path, owner.uid, owner.gid)
    if (stat.isSymbolicLink()) continue
    const mode = stat.mode & 0o755
    const wanted = stat.isDirectory() || (mode & 0o111) !== 0 ? mode | 0o755 : mode | 0o644
    if ((stat.mode & 0o7777) !== wanted) chmodSync(path, wanted)
    if (stat.isDirectory()) for (const name of readdirSync(path)) paths.push(join(path, name))
    if (performance.now() - sliceStart < sliceMs) continue
    await immediately()
    sliceStart = performance.now()
  }
}
