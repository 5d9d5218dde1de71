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
])('names what was meant by %s', (given, known, meant) => {
  expect(nearest(given, known)).toBe(meant)
})

it.each([
  ['colour', ['cwd', 'env', 'user']],
  ['x', ['cwd', 'env']],
  ['', ['cwd']],
  ['x'.repeat(100_000), ['cwd', 'env']],
])('names nothing where nothing is near: %.20s', (given, known) => {
  expect(nearest(given, known)).toBeUndefined()
})
