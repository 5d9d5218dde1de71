import type { JsonCopy } from './copy.ts'
import type { JsonPathNode } from './json-path-tree.ts'

/** An array or object of JSON data. */
export type JsonContainer = JsonCopy[] | { [key: string]: JsonCopy }

/** A text inside a JSON value. */
export interface Leaf<State> {
  readonly text: string
  readonly container: JsonContainer
  readonly key: string
  /** The state of this path in each channel; absent until there is some, and empty if no channel has any. */
  readonly nodes: readonly (JsonPathNode<State> | undefined)[]
  /** The keys that lead to it. The array is reused for the next leaf. */
  readonly path: readonly string[]
}

/** Visits every text inside a container in key order, together with the states of its path. */
export function visitLeaves<State>(
  container: JsonContainer,
  nodes: readonly (JsonPathNode<State> | undefined)[],
  visit: (leaf: Leaf<State>) => void,
  path: string[] = [],
): void {
  for (const key of Object.keys(container)) {
    const item = itemOf(container, key)
    if (item === null || (typeof item !== 'string' && typeof item !== 'object')) continue
    path.push(key)
    const inner = innerNodes(nodes, key)
    if (typeof item === 'string') visit({ text: item, container, key, nodes: inner, path })
    else visitLeaves(item, inner, visit, path)
    path.pop()
  }
}

const noNodes: readonly undefined[] = []

function innerNodes<State>(
  nodes: readonly (JsonPathNode<State> | undefined)[],
  key: string,
): readonly (JsonPathNode<State> | undefined)[] {
  // Most texts have no state.
  if (nodes.length === 0) return noNodes
  const inner = nodes.map((node) => node?.inner.get(key))
  return inner.every((node) => node === undefined) ? noNodes : inner
}

/** Replaces the text of a leaf. */
export function setLeaf(container: JsonContainer, key: string, text: string): void {
  if (Array.isArray(container)) container[Number(key)] = text
  else container[key] = text
}

function itemOf(container: JsonContainer, key: string): JsonCopy {
  return (Array.isArray(container) ? container[Number(key)] : container[key]) ?? null
}
