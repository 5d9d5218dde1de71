import { describe, expect, it } from 'vitest'
import { isWholeNumber, requirePort, requireWholeNumber } from '../../src/primitives/index.ts'

describe('isWholeNumber', () => {
  it.each([0, 1, Number.MAX_SAFE_INTEGER])('accepts %s', (value) => {
    expect(isWholeNumber(value)).toBe(true)
  })

  it.each([-1, 0.5, Number.NaN, Infinity, 2 ** 53, '1', 1n, null, undefined, [1]])('refuses %s', (value) => {
    expect(isWholeNumber(value)).toBe(false)
  })

  it('takes both bounds as allowed', () => {
    expect([0, 1, 2, 3, 4].map((value) => isWholeNumber(value, 1, 3))).toEqual([
      false,
      true,
      true,
      true,
      false,
    ])
  })
})

describe('requireWholeNumber', () => {
  it('returns the value', () => {
    expect(requireWholeNumber('limit', 7, 1)).toBe(7)
  })

  it.each([
    [-1, [], 'limit: expected a whole number of at least 0, got -1.'],
    [0, [1], 'limit: expected a whole number of at least 1, got 0.'],
    [Number.NaN, [1, 9], 'limit: expected a whole number from 1 to 9, got NaN.'],
  ])('says of %s within %j what was expected and what was given', (value, [least, most], message) => {
    expect(() => requireWholeNumber('limit', value, least, most)).toThrow(
      expect.objectContaining({
        code: 'argument_invalid',
        message,
        details: expect.objectContaining({ path: 'limit' }),
      }),
    )
  })
})

it('requirePort refuses numbers that are no port', () => {
  expect(requirePort(65_535)).toBe(65_535)
  for (const port of [0, 65_536, 1.5])
    expect(() => requirePort(port)).toThrow(`port: expected a whole number from 1 to 65535, got ${port}.`)
})
