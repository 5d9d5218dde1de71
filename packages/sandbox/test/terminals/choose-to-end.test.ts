import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseToEnd, type SessionUse } from '../../src/terminals/choose-to-end.ts'

/** As many sessions, the first used longest ago. */
function sessions(count: number, exited: readonly number[] = []): SessionUse[] {
  return Array.from({ length: count }, (_, id) => ({ id, lastUsed: id, exited: exited.includes(id) }))
}

describe('the session that makes room', () => {
  it.each([
    ['none while there is room', sessions(63, [1]), undefined],
    ['the one used longest ago', sessions(64), 0],
    ['one that has ended before one that runs', sessions(64, [20, 30]), 20],
    ['the last that is not protected', sessions(64, [55]), 55],
    ['not one of the eight used last, even when it has ended', sessions(64, [56, 63]), 0],
  ])('is %s', (_name, given, id) => {
    expect(chooseToEnd(given)).toBe(id)
  })

  it('does not depend on the order they are listed in', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(sessions(64, [20, 60]), { minLength: 64 }), (given) => {
        expect(chooseToEnd(given)).toBe(20)
      }),
    )
  })
})
