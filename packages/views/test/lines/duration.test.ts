import { expect, it } from 'vitest'
import { durationText } from '../../src/lines/duration.ts'

it.each([
  [0, '0 ms'],
  [0.42, '0.4 ms'],
  [12.3, '12 ms'],
  [999.4, '999 ms'],
  [999.9, '1 s'],
  [1234, '1.2 s'],
  [59_990, '1 min 0 s'],
  [65_000, '1 min 5 s'],
  [7_260_000, '2 h 1 min'],
])('formats %d milliseconds for display', (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text)
})
