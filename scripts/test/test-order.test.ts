import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { TestSpecification, Vitest } from 'vitest/node'
import { durationsFile, LongestFirst } from '../test-order.ts'
import { root } from '../tools.ts'

const seconds: Record<string, number> = JSON.parse(readFileSync(durationsFile, 'utf8'))
const longest = Object.keys(seconds).toSorted((one, other) => seconds[other]! - seconds[one]!)

it('the order of tests names only files that exist', () => {
  expect(longest.filter((file) => !existsSync(join(root, file)))).toEqual([])
})

it('the longest test files start first, and unknown ones last', async () => {
  const names = ['packages/new/test/new.test.ts', ...longest.toReversed()]
  // The sequencer reads only `moduleId`.
  const files = names.map((name) => ({ moduleId: join(root, name) }) as TestSpecification)
  const sorted = await new LongestFirst({} as Vitest).sort(files)
  const durations = sorted.map(({ moduleId }) => seconds[moduleId.slice(root.length + 1)] ?? 0)
  expect(durations).toHaveLength(names.length)
  expect(durations).toEqual(durations.toSorted((one, other) => other - one))
})
