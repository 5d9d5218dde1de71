/** Who wants to hear of something. With `keep`, who comes late is told what was said. */
export class Listeners<Value> {
  readonly #listeners = new Set<(value: Value) => void>()
  readonly #keeps: boolean
  #kept: { readonly value: Value } | undefined

  constructor(keep?: 'keep') {
    this.#keeps = keep === 'keep'
  }

  add(listener: (value: Value) => void): () => void {
    const own = (value: Value) => listener(value)
    this.#listeners.add(own)
    if (this.#kept !== undefined) own(this.#kept.value)
    return () => void this.#listeners.delete(own)
  }

  tell(value: Value): void {
    if (this.#keeps) this.#kept = { value }
    for (const listener of this.#listeners) listener(value)
  }
}
