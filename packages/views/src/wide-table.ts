import type { CopyOnWrite } from './copy-on-write.ts'
import { entryOf, type Table, withEntry, withoutEntry } from './table.ts'

/** A table of many entries, split into parts by key hash, so that a small batch copies only the parts it changes. */
export type WideTable<Value> = Table<Table<Value>>

const parts = 256
const none: Table<never> = {}

export function wideEntryOf<Value>(table: WideTable<Value>, key: string): Value | undefined {
  return entryOf(entryOf(table, partOf(key)) ?? none, key)
}

export function wideValuesOf<Value>(table: WideTable<Value>): Value[] {
  return Object.values(table).flatMap((part) => Object.values(part))
}

export function withWideEntry<Value>(
  copy: CopyOnWrite,
  table: WideTable<Value>,
  key: string,
  value: Value,
): WideTable<Value> {
  const part = partOf(key)
  return withEntry(copy, table, part, withEntry(copy, entryOf(table, part) ?? none, key, value))
}

export function withoutWideEntry<Value>(
  copy: CopyOnWrite,
  table: WideTable<Value>,
  key: string,
): WideTable<Value> {
  const name = partOf(key)
  const part = entryOf(table, name)
  if (part === undefined || !Object.hasOwn(part, key)) return table
  return withEntry(copy, table, name, withoutEntry(copy, part, key))
}

function partOf(key: string): string {
  let hash = 0
  for (let index = 0; index < key.length; index += 1) hash = (hash * 31 + key.charCodeAt(index)) | 0
  return String((hash >>> 0) % parts)
}
