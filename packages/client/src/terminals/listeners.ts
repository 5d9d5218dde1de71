import { type Listener, notify, notifyOne } from '@vitrine/protocol/primitives'

/** A set of listeners. With `replay`, a listener that is added later gets the last value. */
export class Listeners<Value> {
  readonly #listeners = new Set<Listener<Value>>()
  readonly #onError: (error: unknown) => void
  readonly #replays: boolean
  #last: { readonly value: Value } | undefined

  constructor(onError: (error: unknown) => void, mode?: 'replay') {
    this.#onError = onError
    this.#replays = mode === 'replay'
  }

  add(listener: Listener<Value>): () => void {
    // Wrapped, so that the same function can be added twice.
    const wrapper = (value: Value) => listener(value)
    this.#listeners.add(wrapper)
    if (this.#last !== undefined) void notifyOne(wrapper, this.#last.value, this.#onError)
    return () => void this.#listeners.delete(wrapper)
  }

  emit(value: Value): void {
    if (this.#replays) this.#last = { value }
    notify(this.#listeners, value, this.#onError)
  }
}
