import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type LifeFacts, nextDue } from '../../src/life-times/next-due.ts'

const time = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const maybeTime = fc.option(time, { nil: undefined })
const length = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
const lifeTimes = fc.record({ idleStopMs: length, maxAgeMs: length, ttlMs: length }, { requiredKeys: [] })
const facts: fc.Arbitrary<LifeFacts> = fc.record({
  createdAt: time,
  startedAt: maybeTime,
  idleSince: maybeTime,
})

it.each([
  ['nothing without life times', {}, undefined],
  ['the end of its life', { ttlMs: 100 }, { at: 1_100, reason: 'ttl' }],
  ['its age since its start', { maxAgeMs: 5 }, { at: 1_055, reason: 'max_age' }],
  ['its idle time since it was used last', { idleStopMs: 5 }, { at: 1_065, reason: 'idle' }],
  ['the first of all', { ttlMs: 70, maxAgeMs: 12, idleStopMs: 5 }, { at: 1_062, reason: 'max_age' }],
  [
    'its destruction before a stop at the same time',
    { ttlMs: 60, maxAgeMs: 10 },
    { at: 1_060, reason: 'ttl' },
  ],
])('a sandbox that runs is due for %s', (_name, times, due) => {
  expect(nextDue(times, { createdAt: 1_000, startedAt: 1_050, idleSince: 1_060 })).toEqual(due)
})

it('a sandbox that does not run is due for the end of its life only', () => {
  fc.assert(
    fc.property(lifeTimes, facts, (times, known) => {
      const due = nextDue(times, { ...known, startedAt: undefined })
      expect(due).toEqual(times.ttlMs && { at: known.createdAt + times.ttlMs, reason: 'ttl' })
    }),
  )
})

it('an active sandbox is never due for being idle', () => {
  fc.assert(
    fc.property(lifeTimes, facts, (times, known) => {
      expect(nextDue(times, { ...known, idleSince: undefined })?.reason).not.toBe('idle')
    }),
  )
})

it('the next end is not later than any end alone', () => {
  fc.assert(
    fc.property(lifeTimes, facts, (times, known) => {
      const alone = Object.entries(times).flatMap(([name, ms]) => nextDue({ [name]: ms }, known) ?? [])
      expect(nextDue(times, known)?.at).toBe(
        alone.length === 0 ? undefined : Math.min(...alone.map(({ at }) => at)),
      )
    }),
  )
})

it('a creation time that cannot be read makes nothing due', () => {
  const none = { createdAt: Number.NaN, startedAt: undefined, idleSince: undefined }
  expect(nextDue({ ttlMs: 1 }, none)).toBeUndefined()
})
