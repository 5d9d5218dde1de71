type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** Gives a copy that may be written to: a new one the first time, the same one from then on. */
export type CopyOnce = <T extends object>(value: T) => Mutable<T>

/** For one batch: what it touches is copied once, the rest stays shared with the state before. */
export function copyOnce(): CopyOnce {
  const copies = new WeakSet<object>()
  return <T extends object>(value: T): Mutable<T> => {
    // The only casts of this package: a copy of our own may be written to.
    if (copies.has(value)) return value as Mutable<T>
    const copy = (Array.isArray(value) ? value.slice() : { ...value }) as Mutable<T>
    copies.add(copy)
    return copy
  }
}
