import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { WatchedChange } from './watchers.ts'

/** What is there: of a file, its size. */
export type FileTree = Map<string, 'directory' | number>

export interface Counts {
  readonly events: number
  /** Paths that are there now and were not, or the other way around, and that no event is about. */
  readonly missed: number
  /** Paths where the events, one after the other, come to something else than what is there. */
  readonly differs: number
  /** Events about what nobody touched. */
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
    // Whoever tells no sizes is not asked for them.
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

/** Events alone, applied one after the other. A folder that goes takes along what is below it. */
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
