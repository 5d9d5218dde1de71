import { expect, it } from 'vitest'
import { nextVersion } from '../../release/next-version.ts'

it.each([
  ['0.1.3', 'patch', '0.1.4'],
  ['0.1.3', 'minor', '0.2.0'],
  ['0.1.3', 'major', '1.0.0'],
  ['0.9.9', '0.10.0', '0.10.0'],
  ['0.1.0', '0.1.0', '0.1.0'],
])('after %s, %s is %s', (current, wanted, expected) => {
  expect(nextVersion(current, wanted)).toBe(expected)
})

it.each(['newest', '1.2', 'v1.2.3', '1.2.3-rc.1', ''])('refuses "%s" and says what it expects', (wanted) => {
  expect(() => nextVersion('0.1.0', wanted)).toThrow(
    `"${wanted}" is no version. Expected patch, minor, major or three numbers such as 0.2.0.`,
  )
})

it.each([
  ['0.10.0', '0.9.0'],
  ['1.0.0', '0.99.99'],
  ['0.1.2', '0.1.1'],
])('after %s, refuses the lower version %s', (current, wanted) => {
  expect(() => nextVersion(current, wanted)).toThrow(
    `${wanted} is lower than the current version ${current}.`,
  )
})
