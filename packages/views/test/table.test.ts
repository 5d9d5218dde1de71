import { expect, it } from 'vitest'
import { copyOnWrite } from '../src/copy-on-write.ts'
import { entryOf, type Table, withEntry, withoutEntry } from '../src/table.ts'

it('withEntry adds an entry called __proto__ like any other', () => {
  const table = withEntry<number>(copyOnWrite(), {}, '__proto__', 1)
  expect(entryOf(table, '__proto__')).toBe(1)
  expect(Object.getPrototypeOf(table)).toBe(Object.prototype)
  const changed = withEntry(copyOnWrite(), table, '__proto__', 2)
  expect(entryOf(changed, '__proto__')).toBe(2)
  expect(entryOf(table, '__proto__')).toBe(1)
  expect(Object.keys(withoutEntry(copyOnWrite(), table, '__proto__'))).toEqual([])
})

it('entryOf does not find properties of the prototype', () => {
  expect(entryOf<unknown>({}, 'constructor')).toBeUndefined()
})

it('withEntry copies a table once for a batch', () => {
  const before: Table<number> = { a: 1 }
  const copy = copyOnWrite()
  const first = withEntry(copy, before, 'b', 2)
  const second = withEntry(copy, first, 'c', 3)
  expect(second).toBe(first)
  expect(before).toEqual({ a: 1 })
})

it('withoutEntry returns the same table if there is nothing to remove', () => {
  const table: Table<number> = { a: 1 }
  expect(withoutEntry(copyOnWrite(), table, 'b')).toBe(table)
})
