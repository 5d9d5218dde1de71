import { expect, it } from 'vitest'
import { pathOf, queryOf } from '../../src/http/address.ts'

it('encodes each part as one path segment', () => {
  expect(pathOf(['sandboxes', 'a/b c', 'exec'])).toBe('/v1/sandboxes/a%2Fb%20c/exec')
})

it.each(['', '.', '..'])('refuses %j as a path segment, which would lead to another route', (part) => {
  expect(() => pathOf(['sandboxes', part])).toThrow(expect.objectContaining({ code: 'argument_invalid' }))
})

it('omits undefined query values', () => {
  expect(queryOf({ a: undefined, b: 'x y', c: 0, d: false, e: ['file.*', 'log.*'] })).toBe(
    '?b=x%20y&c=0&d=false&e=file.%2A%2Clog.%2A',
  )
  expect(queryOf({ a: undefined })).toBe('')
})

it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses %d as a count', (limit) => {
  expect(() => queryOf({ limit })).toThrow(expect.objectContaining({ code: 'argument_invalid' }))
})
