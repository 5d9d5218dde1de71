import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { WatchedChange } from './watchers.ts'

/** The entries of a tree: `directory`, or the size of a file. */
export type FileTree = Map<string, 'directory' | number>

export interface Counts {
  readonly events: number
  /** Paths that were created or deleted without any event about them. */
  readonly missed: number
  /** Paths whose state after applying all events differs from the disk. */
  readonly differs: number
  /** Paths with events that were not touched. */
  readonly phantom: number
}

export function scan(root: string): FileTree {
  const tree: FileTree = new Map()
  const visit = (folder: string) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        tree.set(path, 'directory')
        visit(path)
      } else tree.set(path, lstatSync(join(root, path)).size)
    }
  }
  visit('')
  return tree
}

export function count(
  before: ReadonlyMap<string, 'directory' | number>,
  after: ReadonlyMap<string, 'directory' | number>,
  changes: readonly WatchedChange[],
  isTouched: (path: string) => boolean,
): Counts {
  const reported = new Set(changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from])))
  const folded = fold(before, changes)
  let missed = 0
  let differs = 0
  for (const path of new Set([...before.keys(), ...after.keys(), ...folded.keys()])) {
    if (before.has(path) !== after.has(path) && !reported.has(path)) missed += 1
    // A watcher that reports no sizes is not compared by size.
    const [is, folds] = [after.get(path), folded.get(path)]
    if (is === undefined ? folds !== undefined : folds !== is && folds !== 'some file') differs += 1
  }
  return {
    events: changes.length,
    missed,
    differs,
    phantom: [...reported].filter((path) => !isTouched(path)).length,
  }
}

/** Applies the events in order. Deleting a folder also deletes everything below it. */
function fold(
  before: ReadonlyMap<string, 'directory' | number>,
  changes: readonly WatchedChange[],
): Map<string, 'directory' | 'some file' | number> {
  const tree = new Map<string, 'directory' | 'some file' | number>(before)
  for (const { what, path, from, kind, size } of changes) {
    if (what === 'deleted') {
      const was = tree.get(path)
      tree.delete(path)
      if (was === 'directory' || (was === 'some file' && kind === undefined))
        for (const other of tree.keys()) if (other.startsWith(`${path}/`)) tree.delete(other)
      continue
    }
    if (from !== undefined) tree.delete(from)
    tree.set(path, kind === 'directory' ? 'directory' : (size ?? 'some file'))
  }
  return tree
}
