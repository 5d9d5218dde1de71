// The matchers of vitest fail for a key called `constructor`, so this uses the equality of Node.
import { deepStrictEqual } from 'node:assert'
import type { JournalItem } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rebuild, type View } from '../src/index.ts'
import { anyItems } from './any-items.ts'
import { deepFreeze } from './deep-freeze.ts'
import { wellFormedItems } from './well-formed-items.ts'

/** Tests of the properties that every view must have, for any events, and for `more` of the kind that the view uses. */
export function describeViewProperties<State>(
  view: View<State>,
  ...more: readonly fc.Arbitrary<JournalItem[]>[]
): void {
  const items: fc.Arbitrary<JournalItem[]> = fc.oneof(anyItems, wellFormedItems, ...more)
  const batches = fc
    .tuple(items, fc.infiniteStream(fc.integer({ min: 0, max: 12 })))
    .map(([events, sizes]) => inBatches(deepFreeze(events), sizes))

  describe('as a view', () => {
    it('has the same state for any batches of the same events', () => {
      fc.assert(
        fc.property(batches, (parts) => {
          const state = parts.reduce((before, part) => view.add(before, part), view.empty)
          deepStrictEqual(state, rebuild(view, parts.flat()))
        }),
      )
    })

    it('continues from a state that went through JSON', () => {
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

    it('modifies neither the given state nor the events', () => {
      fc.assert(
        fc.property(batches, (parts) => {
          let state = deepFreeze(view.empty)
          for (const part of parts) state = deepFreeze(view.add(state, part))
        }),
      )
    })

    it('returns the same state if there is nothing to add', () => {
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
