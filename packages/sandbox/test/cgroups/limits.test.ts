import type { MachineLimits } from '@vitrine/protocol'
import { describe, expect, test } from 'vitest'
import { parsePids } from '../../src/cgroups/group.ts'
import { limitWrites } from '../../src/cgroups/limits.ts'
import { checkName } from '../../src/cgroups/name.ts'
import { parseMeasure } from '../../src/cgroups/usage.ts'

const written = (version: 1 | 2, limits: MachineLimits) =>
  limitWrites(version, limits).map(({ file, value }) => `${file}=${value}`)

describe('limitWrites', () => {
  test.each<[1 | 2, MachineLimits, string[]]>([
    [1, {}, []],
    [1, { memoryBytes: 4096 }, ['memory.limit_in_bytes=4096', 'memory.memsw.limit_in_bytes=4096']],
    [1, { cpus: 1.5 }, ['cpu.cfs_period_us=100000', 'cpu.cfs_quota_us=150000']],
    [2, { memoryBytes: 4096 }, ['memory.max=4096', 'memory.swap.max=0']],
    [2, { cpus: 0.01, pids: 7 }, ['cpu.max=1000 100000', 'pids.max=7']],
  ])('gives the writes for v%i %o', (version, limits, expected) => {
    expect(written(version, limits)).toEqual(expected)
  })
})

test.each(['', '.', '..', 'a/b', 'memory.max', '-a', 'a'.repeat(101), 'ä'])(
  'checkName refuses %j',
  (name) => {
    expect(() => checkName(name)).toThrow('name: expected')
  },
)

test.each([
  ['4096\n', '', 4096],
  ['oom_kill_disable 0\nunder_oom 0\noom_kill 2\n', 'oom_kill', 2],
  ['low 0\noom 1\noom_kill 3\noom_group_kill 9\n', 'oom_kill', 3],
  ['max\n', '', undefined],
  ['', 'usage_usec', undefined],
])('parseMeasure reads %j at %j as %j', (text, word, expected) => {
  expect(parseMeasure(text, word)).toBe(expected)
})

test('parsePids skips 0, which stands for a process of another namespace', () => {
  expect(parsePids('12\n0\n7\n')).toEqual([12, 7])
  expect(parsePids('')).toEqual([])
})
