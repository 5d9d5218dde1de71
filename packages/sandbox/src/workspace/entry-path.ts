import { checkPath } from '@vitrine/archives'
import { isVitrineError } from '@vitrine/protocol'
import { type FieldPath, invalid } from './invalid.ts'

/** Splits an entry's path into names; the workspace's root has none. */
export function entryPath(field: FieldPath, path: unknown): readonly string[] {
  try {
    checkPath(field, path)
  } catch (error) {
    if (isVitrineError(error) && error.code === 'path_too_long') throw invalid(field, 'the path is too long.')
    throw error
  }
  if (path.startsWith('/'))
    throw invalid(field, 'expected a path relative to the workspace, got an absolute path.')
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (names.includes('..')) throw invalid(field, 'expected a path without "..".')
  return names
}

/** A path that a manifest creates. */
export interface ManifestEntry {
  readonly field: FieldPath
  readonly names: readonly string[]
  /** `open`: other entries may be inside. */
  readonly inside: 'open' | 'closed'
}

interface EntryPosition {
  readonly below: Map<string, EntryPosition>
  entry?: ManifestEntry
}

/** Finds two conflicting entries: at the same path, or one inside an entry that is not a plain directory. */
export function findOverlap(
  entries: readonly ManifestEntry[],
): { readonly outer: ManifestEntry; readonly inner: ManifestEntry } | undefined {
  const root: EntryPosition = { below: new Map() }
  for (const entry of entries) {
    let position = root
    for (const name of entry.names) {
      if (position.entry?.inside === 'closed') return { outer: position.entry, inner: entry }
      const next = position.below.get(name) ?? { below: new Map() }
      position.below.set(name, next)
      position = next
    }
    if (position.entry !== undefined) return { outer: position.entry, inner: entry }
    const below = entry.inside === 'closed' ? firstBelow(position) : undefined
    if (below !== undefined) return { outer: entry, inner: below }
    position.entry = entry
  }
  return undefined
}

function firstBelow({ below }: EntryPosition): ManifestEntry | undefined {
  for (const position of below.values()) {
    const found = position.entry ?? firstBelow(position)
    if (found !== undefined) return found
  }
  return undefined
}
