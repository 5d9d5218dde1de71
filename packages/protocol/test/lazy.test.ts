import { expect, it } from 'vitest'
import { joined, lazily } from '../src/lazy.ts'

it('lazily() creates only the values that are read, once each', () => {
  const made: string[] = []
  const make = (name: string) => () => {
    made.push(name)
    return { name }
  }
  const table = lazily({ one: make('one'), two: make('two') })
  expect([Object.keys(table), Object.hasOwn(table, 'two'), made]).toEqual([['one', 'two'], true, []])
  expect(table.one).toBe(table.one)
  expect(made).toEqual(['one'])
})

it('joined() merges tables without creating their values', () => {
  const made: string[] = []
  const make = (name: string) => () => {
    made.push(name)
    return name
  }
  const all = joined(lazily({ a: make('a') }), lazily({ b: make('b') }))
  expect([Object.keys(all), made]).toEqual([['a', 'b'], []])
  expect([all.b, made]).toEqual(['b', ['b']])
})
