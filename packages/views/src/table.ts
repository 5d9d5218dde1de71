import type { CopyOnWrite } from './copy-on-write.ts'

/** A map as a JSON object. Its keys come from events, so `__proto__` is a key like any other. */
export type Table<Value> = Readonly<Record<string, Value>>

export function entryOf<Value>(table: Table<Value>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}

export function withEntry<Value>(
  copy: CopyOnWrite,
  table: Table<Value>,
  key: string,
  value: Value,
): Table<Value> {
  const next = copy(table)
  // An assignment to `__proto__` would set the prototype instead of an entry.
  if (key === '__proto__') {
    Object.defineProperty(next, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    next[key] = value
  }
  return next
}

export function withoutEntry<Value>(copy: CopyOnWrite, table: Table<Value>, key: string): Table<Value> {
  if (!Object.hasOwn(table, key)) return table
  const next = copy(table)
  delete next[key]
  return next
}
