/** A path on which something is remembered, or that leads to one. */
export interface Place<State> {
  state: State | undefined
  readonly inner: Map<string, Place<State>>
}

/** Where state by path is kept. */
export interface Places<State> {
  readonly root: Place<State>
  /** How many places there are, empty ones included. */
  readonly size: number
  /** The place of a path, made if it is not there. */
  at(path: readonly string[]): Place<State>
}

export function createPlaces<State>(): Places<State> {
  const root: Place<State> = { state: undefined, inner: new Map() }
  let size = 0
  return {
    root,
    get size() {
      return size
    },
    at(path) {
      let place = root
      for (const key of path) {
        let inner = place.inner.get(key)
        if (inner === undefined) {
          inner = { state: undefined, inner: new Map() }
          place.inner.set(key, inner)
          size++
        }
        place = inner
      }
      return place
    },
  }
}
