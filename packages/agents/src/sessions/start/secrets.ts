import type { Store } from '@vitrine/journal'

/** Shorter ones are in every text; longer ones are files. */
const shortest = 4
const longest = 64 * 1024
const known = new WeakMap<Store, Set<string>>()

/** Masks a value from now on. The same one is kept once, however many sessions are given it. */
export function keepSecret(store: Store, name: string, value: string): void {
  const kept = known.get(store) ?? new Set()
  known.set(store, kept)
  if (value.length < shortest || Buffer.byteLength(value) > longest || kept.has(value)) return
  store.addSecret(name, value)
  kept.add(value)
}
