import fc from 'fast-check'
import { expect, it } from 'vitest'
import { copyOnWrite } from '../src/copy-on-write.ts'
import {
  type WideTable,
  wideEntryOf,
  wideValuesOf,
  withoutWideEntry,
  withWideEntry,
} from '../src/wide-table.ts'

const empty: WideTable<number> = {}
const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', '1'))

it('a wide table has the same entries as a Map', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.option(fc.nat()))), (writes) => {
      const map = new Map<string, number>()
      const copy = copyOnWrite()
      let table = empty
      for (const [name, value] of writes) {
        if (value === null) map.delete(name)
        else map.set(name, value)
        table = value === null ? withoutWideEntry(copy, table, name) : withWideEntry(copy, table, name, value)
      }
      for (const [name] of writes) expect(wideEntryOf(table, name)).toBe(map.get(name))
      expect(wideValuesOf(table).sort()).toEqual([...map.values()].sort())
    }),
  )
})

it('a batch copies only the parts that it changes', () => {
  let before = empty
  for (let index = 0; index < 1000; index += 1)
    before = withWideEntry(copyOnWrite(), before, `op_${index}`, index)
  const after = withWideEntry(copyOnWrite(), before, 'op_7', -7)
  const copied = Object.keys(before).filter((part) => before[part] !== after[part])
  expect(copied).toHaveLength(1)
  expect(wideEntryOf(before, 'op_7')).toBe(7)
  expect(wideEntryOf(after, 'op_7')).toBe(-7)
})
