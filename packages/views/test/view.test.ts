import { expect, it } from 'vitest'
import { rebuild, type View } from '../src/index.ts'
import { event } from './journal-items.ts'

it('rebuild() adds all events to the empty state in one batch', () => {
  const batches: number[] = []
  const counting: View<number> = {
    empty: 0,
    add(state, events) {
      batches.push(events.length)
      return state + events.length
    },
  }
  expect(rebuild(counting, [event(1, 'log.message'), event(2, 'log.message')])).toBe(2)
  expect(batches).toEqual([2])
})
