/** A path on which something is remembered, or that leads to one. */
export interface SecretPosition<State> {
  state: State | undefined
  readonly inner: Map<string, SecretPosition<State>>
}

/** Where state by path is kept. */
export interface SecretPositions<State> {
  readonly root: SecretPosition<State>
  /** How many places there are, empty ones included. */
  readonly size: number
  /** The place of a path, made if it is not there. */
  at(path: readonly string[]): SecretPosition<State>
}

export function createPlaces<State>(): SecretPositions<State> {
  const root: SecretPosition<State> = { state: undefined, inner: new Map() }
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
