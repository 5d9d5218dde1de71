import { isVitrineError } from '@vitrine/protocol'
import { checkPath } from '../files/access-roots.ts'
import { invalid, type Where } from './invalid.ts'

/** The names on the way from the workspace's root to an entry; none for the root itself. */
export function entryPath(where: Where, path: unknown): readonly string[] {
  try {
    checkPath(where, path)
  } catch (error) {
    if (isVitrineError(error) && error.code === 'path_too_long') throw invalid(where, 'the path is too long.')
    throw error
  }
  if (path.startsWith('/')) throw invalid(where, 'expected a path from the workspace, got an absolute one.')
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (names.includes('..')) throw invalid(where, 'expected a path without "..".')
  return names
}

/** A place that a manifest fills. */
export interface Entry {
  readonly where: Where
  readonly names: readonly string[]
  /** `open`: other entries may lie inside. */
  readonly inside: 'open' | 'closed'
}

interface EntryPosition {
  readonly below: Map<string, EntryPosition>
  entry?: Entry
}

/** Two entries that cannot both be made: at one place, or one inside of what is not a plain directory. */
export function findOverlap(
  entries: readonly Entry[],
): { readonly outer: Entry; readonly inner: Entry } | undefined {
  const root: EntryPosition = { below: new Map() }
  for (const entry of entries) {
    let place = root
    for (const name of entry.names) {
      if (place.entry?.inside === 'closed') return { outer: place.entry, inner: entry }
      const next = place.below.get(name) ?? { below: new Map() }
      place.below.set(name, next)
      place = next
    }
    if (place.entry !== undefined) return { outer: place.entry, inner: entry }
    const below = entry.inside === 'closed' ? firstBelow(place) : undefined
    if (below !== undefined) return { outer: entry, inner: below }
    place.entry = entry
  }
  return undefined
}

function firstBelow({ below }: EntryPosition): Entry | undefined {
  for (const place of below.values()) {
    const found = place.entry ?? firstBelow(place)
    if (found !== undefined) return found
  }
  return undefined
}
