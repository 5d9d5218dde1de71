import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { systemErrorCode } from '../../src/primitives/index.ts'

it('systemErrorCode gives the code of an error of the operating system', () => {
  try {
    readFileSync('/nowhere')
    expect.unreachable()
  } catch (error) {
    expect(systemErrorCode(error)).toBe('ENOENT')
  }
})

it.each([
  ['an error without a code', new Error('no code')],
  ['an error with a number as its code', Object.assign(new Error('numbered'), { code: 5 })],
  ['an object that is no error', { code: 'ENOENT' }],
  ['undefined', undefined],
])('systemErrorCode gives none for %s', (_what, error) => {
  expect(systemErrorCode(error)).toBeUndefined()
})
