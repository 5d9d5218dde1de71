import { expect, it } from 'vitest'
import { pathOf, queryOf } from '../../src/http/address.ts'

it('makes one segment of each part', () => {
  expect(pathOf(['sandboxes', 'a/b c', 'exec'])).toBe('/v1/sandboxes/a%2Fb%20c/exec')
})

it.each(['', '.', '..'])('refuses %j as a part, which would lead elsewhere', (part) => {
  expect(() => pathOf(['sandboxes', part])).toThrow(expect.objectContaining({ code: 'argument_invalid' }))
})

it('leaves out what is not given', () => {
  expect(queryOf({ a: undefined, b: 'x y', c: 0, d: false, e: ['file.*', 'log.*'] })).toBe(
    '?b=x%20y&c=0&d=false&e=file.%2A%2Clog.%2A',
  )
  expect(queryOf({ a: undefined })).toBe('')
})

it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses %d as a count', (limit) => {
  expect(() => queryOf({ limit })).toThrow(expect.objectContaining({ code: 'argument_invalid' }))
})
