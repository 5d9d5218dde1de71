import { describe, expect, it } from 'vitest'
import { hasTooManyValues } from '../../src/events/count-values.ts'
import { withinEventValues } from '../../src/events/cut-values.ts'

const numbers = (length: number) => Array.from({ length }, (_, index) => index)
const members = (length: number) => Object.fromEntries(numbers(length).map((index) => [`k${index}`, index]))

describe('the data of an event', () => {
  it('with few values stays as it is', () => {
    const data = { list: numbers(49_999) }
    expect(withinEventValues(data)).toBe(data)
  })

  it.each([
    ['a long list', { list: numbers(60_000) }, { list: numbers(10_000) }],
    ['a wide object', { map: members(60_000) }, { map: members(10_000) }],
    [
      'a long list of small objects, which stay whole',
      { list: numbers(60_000).map((id) => ({ id, name: 'x', kind: 'y' })), message: 'kept' },
      { list: numbers(10_000).map((id) => ({ id, name: 'x', kind: 'y' })), message: 'kept' },
    ],
    [
      'lists in a list',
      { list: numbers(600).map(() => numbers(600)) },
      { list: numbers(100).map(() => numbers(100)) },
    ],
  ])('is cut to its first entries and says so: %s', (_, data, kept) => {
    const before = JSON.stringify(data)
    expect(withinEventValues(data)).toEqual({ ...kept, truncated: true })
    expect(JSON.stringify(data)).toBe(before)
  })

  it('fits also if it is wide on every level', () => {
    const wide = (depth: number): unknown => (depth === 0 ? 0 : numbers(4).map(() => wide(depth - 1)))
    for (const data of [{ wide: wide(9) }, { a: { wide: wide(8) }, b: wide(8), c: 'kept' }]) {
      const cut = withinEventValues(data)
      expect(hasTooManyValues(cut)).toBe(false)
      expect(cut).toMatchObject({ truncated: true })
    }
  })

  it('keeps its fields, whatever they are', () => {
    const fields = members(49_990)
    const cut = withinEventValues({ ...fields, list: numbers(100) })
    expect(Object.keys(cut)).toEqual([...Object.keys(fields), 'list', 'truncated'])
    expect(hasTooManyValues(cut)).toBe(false)
  })

  it('may be nested very deeply', () => {
    let deep: object = {}
    for (let level = 0; level < 100_000; level += 1) deep = { deep }
    expect(withinEventValues({ deep, list: numbers(60_000) })).toMatchObject({ truncated: true })
  })
})
