import { expect, it } from 'vitest'
import { nearest } from '../../src/options/nearest.ts'

it.each([
  ['timeout', ['shell', 'cwd', 'timeoutMs'], 'timeoutMs'],
  ['permission', ['id', 'permissions', 'env'], 'permissions'],
  ['workspce', ['id', 'local', 'workspace'], 'workspace'],
  ['memory', ['root', 'home', 'limits.memoryBytes'], 'limits.memoryBytes'],
  ['denied', ['allow', 'ask', 'deny'], 'deny'],
  ['CWD', ['cwd', 'env'], 'cwd'],
  ['lables', ['labels', 'local'], 'labels'],
  ['memoryBytes', ['memoryBytes', 'limits.memoryBytes'], 'memoryBytes'],
])('nearest() finds the name similar to %s', (given, known, similar) => {
  expect(nearest(given, known)).toBe(similar)
})

it.each([
  ['colour', ['cwd', 'env', 'user']],
  ['x', ['cwd', 'env']],
  ['', ['cwd']],
  ['x'.repeat(100_000), ['cwd', 'env']],
])('nearest() finds nothing if no name is similar: %.20s', (given, known) => {
  expect(nearest(given, known)).toBeUndefined()
})
