import { expect, it } from 'vitest'
import { crashTest } from '../src/index.ts'
import { scale } from '../src/scale.ts'

const times = scale.crashRounds

it('keeps every event that a reader or writer observed when its host is killed', async () => {
  const report = await crashTest({ times })
  expect(report.violations, `seed ${report.seed}`).toEqual([])
  expect(report.rounds).toBe(times)
  // Without observations the test would prove nothing.
  expect(report.reports).toBeGreaterThan(0)
  expect(report.seenOutside).toBeGreaterThan(0)
  expect(report.recoveries).toBeGreaterThan(0)
}, 300_000)
