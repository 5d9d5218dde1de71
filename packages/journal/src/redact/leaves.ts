import type { JsonCopy } from './copy.ts'
import type { PathNode } from './path-tree.ts'

/** What has texts in it. */
export type JsonContainer = JsonCopy[] | { [key: string]: JsonCopy }

/** A text inside a value. */
export interface Leaf<State> {
  readonly text: string
  readonly container: JsonContainer
  readonly key: string
  /** What is remembered of this path; absent until something is. */
  readonly node: PathNode<State> | undefined
  /** The keys on the way to it; they change as the visit goes on. */
  readonly path: readonly string[]
}

/** Visits every text inside a holder, in the order of its keys, along what is remembered. */
export function visitLeaves<State>(
  container: JsonContainer,
  node: PathNode<State> | undefined,
  visit: (leaf: Leaf<State>) => void,
  path: string[] = [],
): void {
  for (const key of Object.keys(container)) {
    const item = itemOf(container, key)
    if (item === null || (typeof item !== 'string' && typeof item !== 'object')) continue
    path.push(key)
    const inner = node?.inner.get(key)
    if (typeof item === 'string') visit({ text: item, container, key, node: inner, path })
    else visitLeaves(item, inner, visit, path)
    path.pop()
  }
}

/** Puts another text where a leaf is. */
export function setLeaf(container: JsonContainer, key: string, text: string): void {
  if (Array.isArray(container)) container[Number(key)] = text
  else container[key] = text
}

function itemOf(container: JsonContainer, key: string): JsonCopy {
  return (Array.isArray(container) ? container[Number(key)] : container[key]) ?? null
}
