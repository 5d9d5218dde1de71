/** A set of listeners. With `replay`, a listener that is added later gets the last value. */
export class Listeners<Value> {
  readonly #listeners = new Set<(value: Value) => void>()
  readonly #replays: boolean
  #last: { readonly value: Value } | undefined

  constructor(mode?: 'replay') {
    this.#replays = mode === 'replay'
  }

  add(listener: (value: Value) => void): () => void {
    const wrapper = (value: Value) => listener(value)
    this.#listeners.add(wrapper)
    if (this.#last !== undefined) wrapper(this.#last.value)
    return () => void this.#listeners.delete(wrapper)
  }

  emit(value: Value): void {
    if (this.#replays) this.#last = { value }
    for (const listener of this.#listeners) listener(value)
  }
}
