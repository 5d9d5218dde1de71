/** A JSON path with state, or a prefix of one. */
export interface JsonPathNode<State> {
  state: State | undefined
  readonly inner: Map<string, JsonPathNode<State>>
}

/** State by JSON path. */
export interface JsonPathTree<State> {
  readonly root: JsonPathNode<State>
  /** The number of nodes, including those without state. */
  readonly size: number
  /** The node of a path; created if it does not exist. */
  at(path: readonly string[]): JsonPathNode<State>
  /** Removes every state that is not kept, and the nodes that have none left. */
  prune(keep: (state: State) => boolean): void
}

export function createJsonPathTree<State>(): JsonPathTree<State> {
  const root: JsonPathNode<State> = { state: undefined, inner: new Map() }
  let size = 0

  /** Whether the node is still needed. */
  function prune(node: JsonPathNode<State>, keep: (state: State) => boolean): boolean {
    if (node.state !== undefined && !keep(node.state)) node.state = undefined
    for (const [key, inner] of node.inner) {
      if (prune(inner, keep)) continue
      node.inner.delete(key)
      size--
    }
    return node.state !== undefined || node.inner.size > 0
  }

  return {
    root,
    get size() {
      return size
    },
    at(path) {
      let node = root
      for (const key of path) {
        let inner = node.inner.get(key)
        if (inner === undefined) {
          inner = { state: undefined, inner: new Map() }
          node.inner.set(key, inner)
          size++
        }
        node = inner
      }
      return node
    },
    prune(keep) {
      prune(root, keep)
    },
  }
}
