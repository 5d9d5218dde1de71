import { expect, it } from 'vitest'
import { Backoff } from '../../src/primitives/index.ts'

it('a backoff doubles its delay up to the limit and starts again after a reset', () => {
  const backoff = new Backoff(100, 500)
  expect([1, 2, 3, 4, 5].map(() => backoff.next())).toEqual([100, 200, 400, 500, 500])
  backoff.reset()
  expect(backoff.next()).toBe(100)
})

it('a backoff leaves out at most the given part of a delay', () => {
  const delays = Array.from({ length: 1_000 }, () => new Backoff(100, 500, 0.25).next())
  expect(Math.max(...delays)).toBeLessThanOrEqual(100)
  expect(Math.min(...delays)).toBeGreaterThan(75)
  expect(new Set(delays).size).toBeGreaterThan(900)
})
