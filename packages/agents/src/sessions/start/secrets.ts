import type { Store } from '@vitrine/journal'

/** Shorter values occur in any text; longer ones are whole files. */
const shortest = 4
const longest = 64 * 1024
const known = new WeakMap<Store, Set<string>>()

/** Redacts a value in all journals of the store from now on. A value that several sessions use is added once. */
export function addSecret(store: Store, name: string, value: string): void {
  const added = known.get(store) ?? new Set()
  known.set(store, added)
  if (value.length < shortest || Buffer.byteLength(value) > longest || added.has(value)) return
  store.addSecret(name, value)
  added.add(value)
}
