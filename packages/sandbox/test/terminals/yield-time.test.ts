import { describe, expect, it } from 'vitest'
import { yieldTime } from '../../src/terminals/yield-time.ts'

describe('yieldTime', () => {
  it.each([
    [0, 'command', 250],
    [10_000, 'command', 10_000],
    [60_000, 'command', 30_000],
    [Number.POSITIVE_INFINITY, 'command', 30_000],
    [250, 'poll', 5_000],
    [6_000, 'poll', 6_000],
    [60_000, 'poll', 30_000],
  ] as const)('limits %d ms for a %s to %d ms', (wished, kind, milliseconds) => {
    expect(yieldTime(wished, kind)).toBe(milliseconds)
  })

  it('rejects a yield time that is not a number', () => {
    expect(() => yieldTime(Number.NaN, 'poll')).toThrow(expect.objectContaining({ code: 'argument_invalid' }))
  })
})
