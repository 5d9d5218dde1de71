import type { JsonCopy } from './copy.ts'
import type { SecretPosition } from './secret-positions.ts'

/** What has texts in it. */
export type Holder = JsonCopy[] | { [key: string]: JsonCopy }

/** A text inside a value. */
export interface Leaf<State> {
  readonly text: string
  readonly holder: Holder
  readonly key: string
  /** What is remembered of this path; absent until something is. */
  readonly place: SecretPosition<State> | undefined
  /** The keys on the way to it; they change as the visit goes on. */
  readonly path: readonly string[]
}

/** Visits every text inside a holder, in the order of its keys, along what is remembered. */
export function visitLeaves<State>(
  holder: Holder,
  place: SecretPosition<State> | undefined,
  visit: (leaf: Leaf<State>) => void,
  path: string[] = [],
): void {
  for (const key of Object.keys(holder)) {
    const item = itemOf(holder, key)
    if (item === null || (typeof item !== 'string' && typeof item !== 'object')) continue
    path.push(key)
    const inner = place?.inner.get(key)
    if (typeof item === 'string') visit({ text: item, holder, key, place: inner, path })
    else visitLeaves(item, inner, visit, path)
    path.pop()
  }
}

/** Puts another text where a leaf is. */
export function putLeaf(holder: Holder, key: string, text: string): void {
  if (Array.isArray(holder)) holder[Number(key)] = text
  else holder[key] = text
}

function itemOf(holder: Holder, key: string): JsonCopy {
  return (Array.isArray(holder) ? holder[Number(key)] : holder[key]) ?? null
}
