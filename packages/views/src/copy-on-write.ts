type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** Returns a writable copy of an object; an object that is already such a copy is returned as it is. */
export type CopyOnWrite = <T extends object>(value: T) => Mutable<T>

/** Copy-on-write for one batch: each changed object is copied once, the others stay shared with the previous state. */
export function copyOnWrite(): CopyOnWrite {
  const copies = new WeakSet<object>()
  return <T extends object>(value: T): Mutable<T> => {
    // The only casts of this package: a copy made here may be written to.
    if (copies.has(value)) return value as Mutable<T>
    const copy = (Array.isArray(value) ? value.slice() : { ...value }) as Mutable<T>
    copies.add(copy)
    return copy
  }
}
