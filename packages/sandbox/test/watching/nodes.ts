import type { EntryStat } from '../../src/watching/entry-stat.ts'
import { TreeNode } from '../../src/watching/node.ts'

/** The attributes of a file, with some of them changed. */
export function statOf(changed: Partial<EntryStat> = {}): EntryStat {
  return {
    kind: 'file',
    ino: 10,
    born: 1_000,
    mode: 0o644,
    size: 3,
    modified: 2_000,
    changed: 2_000,
    links: 1,
    owner: 0,
    group: 0,
    ...changed,
  }
}

/** The attributes of a directory. */
export function directoryStat(ino: number): EntryStat {
  return statOf({ kind: 'directory', ino, mode: 0o755 })
}

/** A node that belongs to no tree. */
export function nodeOf(name: string, changed: Partial<EntryStat> = {}): TreeNode {
  return new TreeNode(undefined, name, statOf(changed))
}
