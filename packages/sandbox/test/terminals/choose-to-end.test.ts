import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseToEnd, type SessionUse } from '../../src/terminals/choose-to-end.ts'

/** This many sessions, the first used longest ago. */
function sessions(count: number, exited: readonly number[] = []): SessionUse[] {
  return Array.from({ length: count }, (_, id) => ({ id, lastUsed: id, exited: exited.includes(id) }))
}

describe('chooseToEnd', () => {
  it.each([
    ['no session while there is room', sessions(63, [1]), undefined],
    ['the session used longest ago', sessions(64), 0],
    ['an ended session before a running one', sessions(64, [20, 30]), 20],
    ['the last session that is not protected', sessions(64, [55]), 55],
    ['none of the eight sessions used last, even if ended', sessions(64, [56, 63]), 0],
  ])('chooses %s', (_name, given, id) => {
    expect(chooseToEnd(given)).toBe(id)
  })

  it('does not depend on the order of the sessions', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(sessions(64, [20, 60]), { minLength: 64 }), (given) => {
        expect(chooseToEnd(given)).toBe(20)
      }),
    )
  })
})
