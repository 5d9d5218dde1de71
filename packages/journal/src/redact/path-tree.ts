/** A path on which something is remembered, or that leads to one. */
export interface PathNode<State> {
  state: State | undefined
  readonly inner: Map<string, PathNode<State>>
}

/** Where state by path is kept. */
export interface PathTree<State> {
  readonly root: PathNode<State>
  /** How many places there are, empty ones included. */
  readonly size: number
  /** The place of a path, made if it is not there. */
  at(path: readonly string[]): PathNode<State>
}

export function createPathTree<State>(): PathTree<State> {
  const root: PathNode<State> = { state: undefined, inner: new Map() }
  let size = 0
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
  }
}
