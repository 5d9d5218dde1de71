import { closeSync, lstatSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs'
import { join } from 'node:path'

/** The number of compared paths, and of differences by kind. */
export interface Likeness {
  readonly paths: number
  readonly missing: number
  readonly bytes: number
  readonly modes: number
  readonly links: number
  readonly times: number
}

/** Compares two trees: contents byte by byte, modes, owners, links, and times to the microsecond. */
export function compare(left: string, right: string): Likeness {
  const [mine, other] = [list(left), list(right)]
  const differs = { missing: 0, bytes: 0, modes: 0, links: 0, times: 0 }
  const names = new Map<bigint, string>()
  const otherNames = new Map<bigint, string>()
  const [here, there] = [new Set(mine), new Set(other)]
  for (const path of other) if (!here.has(path)) differs.missing += 1
  for (const path of mine) {
    if (!there.has(path)) {
      differs.missing += 1
      continue
    }
    const [a, b] = [
      lstatSync(join(left, path), { bigint: true }),
      lstatSync(join(right, path), { bigint: true }),
    ]
    if (a.mode !== b.mode || a.uid !== b.uid || a.gid !== b.gid) differs.modes += 1
    const apart = a.mtimeNs - b.mtimeNs
    if (apart <= -1_000n || apart >= 1_000n) differs.times += 1
    if (a.isSymbolicLink() || b.isSymbolicLink()) {
      if (!b.isSymbolicLink() || !a.isSymbolicLink() || target(left, path) !== target(right, path))
        differs.links += 1
    } else if (a.isFile()) {
      // The first path of an inode identifies its group of hard links.
      if (!names.has(a.ino)) names.set(a.ino, path)
      if (!otherNames.has(b.ino)) otherNames.set(b.ino, path)
      if (a.nlink !== b.nlink || names.get(a.ino) !== otherNames.get(b.ino)) differs.links += 1
      if (!sameBytes(join(left, path), join(right, path))) differs.bytes += 1
    }
  }
  return { paths: mine.length, ...differs }
}

export function isAlike({ missing, bytes, modes, links, times }: Likeness): boolean {
  return missing + bytes + modes + links + times === 0
}

/** All paths below a root, sorted; the root itself is `''`. */
function list(root: string): string[] {
  return ['', ...readdirSync(root, { recursive: true, encoding: 'utf8' })].toSorted()
}

function target(root: string, path: string): string {
  return readlinkSync(join(root, path))
}

function sameBytes(left: string, right: string): boolean {
  const [a, b] = [openSync(left, 'r'), openSync(right, 'r')]
  const [mine, other] = [Buffer.allocUnsafe(1024 * 1024), Buffer.allocUnsafe(1024 * 1024)]
  try {
    for (;;) {
      const got = readSync(a, mine)
      if (got !== readSync(b, other)) return false
      if (got === 0) return true
      if (mine.compare(other, 0, got, 0, got) !== 0) return false
    }
  } finally {
    closeSync(a)
    closeSync(b)
  }
}
