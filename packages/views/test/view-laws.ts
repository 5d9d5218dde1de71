// A key called `constructor` misleads the matchers of vitest, so equality is that of Node here.
import { deepStrictEqual } from 'node:assert'
import type { JournalItem } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rebuild, type View } from '../src/index.ts'
import { anyItems } from './any-items.ts'
import { deepFreeze } from './deep-freeze.ts'
import { wellFormedItems } from './well-formed-items.ts'

/** What every view promises, whatever the events are. */
export function describeViewLaws<State>(view: View<State>): void {
  const items: fc.Arbitrary<JournalItem[]> = fc.oneof(anyItems, wellFormedItems)
  const batches = fc
    .tuple(items, fc.infiniteStream(fc.integer({ min: 0, max: 12 })))
    .map(([events, sizes]) => inBatches(deepFreeze(events), sizes))

  describe('as a view', () => {
    it('comes to the same state in whatever batches the events arrive', () => {
      fc.assert(
        fc.property(batches, (parts) => {
          const state = parts.reduce((before, part) => view.add(before, part), view.empty)
          deepStrictEqual(state, rebuild(view, parts.flat()))
        }),
      )
    })

    it('goes on from a state that went through JSON as from the state itself', () => {
      fc.assert(
        fc.property(batches, (parts) => {
          let state = view.empty
          for (const part of parts) {
            const restored: State = JSON.parse(JSON.stringify(state))
            deepStrictEqual(restored, state)
            state = view.add(restored, part)
          }
          deepStrictEqual(state, rebuild(view, parts.flat()))
        }),
      )
    })

    it('writes neither to the state it is given nor to the events', () => {
      fc.assert(
        fc.property(batches, (parts) => {
          let state = deepFreeze(view.empty)
          for (const part of parts) state = deepFreeze(view.add(state, part))
        }),
      )
    })

    it('gives the same state back when there is nothing to add', () => {
      fc.assert(
        fc.property(items, (events) => {
          const state = rebuild(view, events)
          expect(view.add(state, [])).toBe(state)
        }),
      )
    })
  })
}

function inBatches(events: readonly JournalItem[], sizes: Iterator<number>): JournalItem[][] {
  const parts: JournalItem[][] = []
  for (let start = 0; start < events.length; ) {
    const size: number = sizes.next().value
    parts.push(events.slice(start, start + size))
    start += size
  }
  return parts
}
