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
  /** The sum of the lengths of their keys. */
  readonly keyLength: number
  /** The node of a path; created if it does not exist. */
  at(path: readonly string[]): JsonPathNode<State>
  /** The node of a first key, which becomes the most recently used; undefined if it does not exist. */
  use(key: string): JsonPathNode<State> | undefined
  /**
   * Removes every state that is not kept, and the nodes that have none left: below the least recently used first key
   * first, until it is enough.
   */
  prune(keep: (state: State) => boolean, isEnough: () => boolean): void
}

export function createJsonPathTree<State>(): JsonPathTree<State> {
  const root: JsonPathNode<State> = { state: undefined, inner: new Map() }
  let size = 0
  let keyLength = 0
  let lastUsed: JsonPathNode<State> | undefined

  /** Whether the node is still needed. */
  function prune(node: JsonPathNode<State>, keep: (state: State) => boolean): boolean {
    if (node.state !== undefined && !keep(node.state)) node.state = undefined
    for (const [key, inner] of node.inner) if (!prune(inner, keep)) remove(node, key)
    return node.state !== undefined || node.inner.size > 0
  }

  function remove(node: JsonPathNode<State>, key: string): void {
    node.inner.delete(key)
    size--
    keyLength -= key.length
  }

  return {
    root,
    get size() {
      return size
    },
    get keyLength() {
      return keyLength
    },
    at(path) {
      let node = root
      for (const key of path) {
        let inner = node.inner.get(key)
        if (inner === undefined) {
          inner = { state: undefined, inner: new Map() }
          node.inner.set(key, inner)
          if (node === root) lastUsed = inner
          size++
          keyLength += key.length
        }
        node = inner
      }
      return node
    },
    use(key) {
      const node = root.inner.get(key)
      if (node === undefined || node === lastUsed) return node
      lastUsed = node
      root.inner.delete(key)
      root.inner.set(key, node)
      return node
    },
    prune(keep, isEnough) {
      for (const [key, node] of root.inner) {
        if (isEnough()) return
        if (!prune(node, keep)) remove(root, key)
      }
    },
  }
}
