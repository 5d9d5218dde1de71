import { expect, it } from 'vitest'
import { cut } from '../../src/text/cut.ts'

it.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['🎉🎉🎉', 3, '🎉🎉🎉'],
  ['🎉🎉🎉🎉', 3, '🎉🎉…'],
  ['abc', 1, '…'],
  ['abc', 0, ''],
  ['abc', Number.POSITIVE_INFINITY, 'abc'],
])('cuts %j to %d code points', (text, max, short) => {
  expect(cut(text, max)).toBe(short)
})
