import { expect, it } from 'vitest'
import { crashTest } from '../src/index.ts'
import { scale } from '../src/scale.ts'

const times = scale.crashRounds

it('loses nothing that anyone was shown when its host is killed', async () => {
  const report = await crashTest({ times })
  expect(report.violations, `seed ${report.seed}`).toEqual([])
  expect(report.rounds).toBe(times)
  // Whoever sees nothing finds nothing missing.
  expect(report.reports).toBeGreaterThan(0)
  expect(report.seenOutside).toBeGreaterThan(0)
  expect(report.recoveries).toBeGreaterThan(0)
}, 300_000)
