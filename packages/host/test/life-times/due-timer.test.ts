import { expect, it } from 'vitest'
import { DueTimer } from '../../src/life-times/due-timer.ts'
import type { Due } from '../../src/life-times/next-due.ts'
import { ManualClock } from './manual-clock.ts'

const hour = 3_600_000
const day = 24 * hour

/** A timer for an end after `ms`; `end` says what happens then, by default the end itself. */
function scene(ms: number, end: (due: Due) => Promise<void> = async () => undefined) {
  const clock = new ManualClock()
  const ends: number[] = []
  const state: { due: Due | undefined } = { due: { at: clock.now() + ms, reason: 'ttl' } }
  const timer = new DueTimer({
    clock,
    due: () => state.due,
    async end(due) {
      ends.push(clock.now())
      await end(due)
      state.due = undefined
    },
  })
  const began = clock.now()
  return { clock, timer, state, ends: () => ends.map((at) => at - began) }
}

it('an end that is due already happens at once', () => {
  const { timer, ends } = scene(-5)
  timer.check()
  expect(ends()).toEqual([0])
})

it('an end happens at its time and once', async () => {
  const { clock, timer, ends } = scene(50)
  timer.check()
  timer.update()
  await clock.move(49)
  expect(ends()).toEqual([])
  await clock.move(1_000)
  expect(ends()).toEqual([50])
  expect(clock.pending).toBe(0)
})

it('an end after more days than a timer can wait happens at its time', async () => {
  const { clock, timer, ends } = scene(100 * day)
  timer.check()
  await clock.move(99 * day)
  expect(ends()).toEqual([])
  await clock.move(2 * day)
  expect(ends()).toEqual([100 * day])
  expect(Math.max(...clock.waits)).toBeLessThanOrEqual(2 ** 31 - 1)
})

it('an end that became due earlier happens then', async () => {
  const { clock, timer, state, ends } = scene(50)
  timer.check()
  state.due = { at: clock.now() + 10, reason: 'idle' }
  timer.update()
  await clock.move(20)
  expect(ends()).toEqual([10])
  expect(clock.pending).toBe(0)
})

it('an end that became due later waits for that time, with one timer', async () => {
  const { clock, timer, state, ends } = scene(50)
  timer.check()
  for (let used = 0; used < 100; used += 1) {
    await clock.move(1)
    state.due = { at: clock.now() + 50, reason: 'idle' }
    timer.update()
    expect(clock.pending).toBe(1)
  }
  await clock.move(49)
  expect(ends()).toEqual([])
  await clock.move(1)
  expect(ends()).toEqual([150])
  expect(clock.waits.length).toBeLessThan(10)
})

it('an end that does not happen is tried again, ever more rarely', async () => {
  const clock = new ManualClock()
  const tries: number[] = []
  const began = clock.now()
  const timer = new DueTimer({
    clock,
    due: () => ({ at: began, reason: 'ttl' }),
    end: async () => void tries.push(clock.now() - began),
  })
  timer.check()
  await new Promise(setImmediate)
  await clock.move(8_000)
  expect(tries).toEqual([0, 1_000, 3_000, 7_000])
  await clock.move(day)
  expect(tries.length).toBeLessThan(4 + 12 + 24)
  timer.close()
  expect(clock.pending).toBe(0)
})

it('no second end begins while one is in progress', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { clock, timer, ends } = scene(0, () => promise)
  timer.check()
  timer.update()
  timer.check()
  await clock.move(hour)
  expect(ends()).toEqual([0])
  resolve()
  await clock.move(hour)
  expect(ends()).toEqual([0])
})

it('a closed timer ends nothing', async () => {
  const { clock, timer, ends } = scene(50)
  timer.check()
  timer.close()
  timer.update()
  timer.check()
  expect(clock.pending).toBe(0)
  await clock.move(100)
  expect(ends()).toEqual([])
})
