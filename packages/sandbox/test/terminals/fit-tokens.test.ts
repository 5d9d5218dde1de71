import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fitTokens, type WrittenOutput } from '../../src/terminals/fit-tokens.ts'
import { UnreadOutput } from '../../src/terminals/unread-output.ts'

function written(text: string): WrittenOutput {
  const unread = new UnreadOutput()
  unread.push('stdout', Buffer.from(text))
  unread.end()
  return unread.take()
}

describe('output within a budget of tokens', () => {
  it.each([
    ['', 1, ''],
    ['abcd', 1, 'abcd'],
    ['abcdefgh', 2, 'abcdefgh'],
    ['äöü', 2, 'äöü'],
  ])('returns output that fits unchanged: %j in %i', (text, tokens, output) => {
    expect(fitTokens(written(text), tokens)).toEqual({ output })
  })

  it.each([
    [
      'both halves, with the lines and what is missing',
      '0123456789'.repeat(20),
      15,
      'Total output lines: 1\n\n012345…47 tokens truncated…456789',
    ],
    ['no room for the lines', '0123456789'.repeat(20), 10, '0123456…47 tokens truncated…23456789'],
    ['no room for any note', '0123456789'.repeat(20), 5, '01234567890123456789'],
    [
      'no half of a character',
      'ä'.repeat(100),
      17,
      `Total output lines: 1\n\n${'ä'.repeat(5)}…45 tokens truncated…${'ä'.repeat(5)}`,
    ],
    ['less than a character', '😀😀', 1, '😀'],
  ])('truncates output: %s', (_name, text, tokens, output) => {
    expect(fitTokens(written(text), tokens).output).toBe(output)
  })

  it.each([
    ['', 0],
    ['a', 1],
    ['a\n', 1],
    ['a\nb', 2],
    ['\n\n', 2],
    ['a\r\nb\r\n', 2],
  ])('counts the lines of the output: %j', (text, lines) => {
    expect(written(text).lines).toBe(lines)
  })

  it('counts the bytes that the buffer skipped', () => {
    const unread = new UnreadOutput()
    for (let chunk = 0; chunk < 40; chunk += 1) unread.push('stdout', Buffer.alloc(65_536, `line ${chunk}\n`))
    const { output, originalTokenCount } = fitTokens(unread.take(), 100)
    expect(originalTokenCount).toBe((40 * 65_536) / 4)
    expect(output).toMatch(/^Total output lines: \d+\n\nline 0\n.*…6552\d\d tokens truncated….*line 39\n/s)
  })

  it('never exceeds its budget, and is a head, a note and a tail of the output', () => {
    const unit = fc.oneof(
      fc.constantFrom('\n', 'a', 'ä', '…', '😀', ' tokens truncated'),
      fc.string({ unit: 'grapheme' }),
    )
    const text = fc.array(unit, { maxLength: 200 }).map((parts) => parts.join('').toWellFormed())
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 80 }), (whole, tokens) => {
        const { output, originalTokenCount } = fitTokens(written(whole), tokens)
        const size = Buffer.byteLength(whole)
        expect(Buffer.byteLength(output)).toBeLessThanOrEqual(tokens * 4)
        expect(originalTokenCount).toBe(size > tokens * 4 ? Math.ceil(size / 4) : undefined)
        expect(isExcerpt(output, whole, size)).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })
})

/** Whether the output can be read as `head + note + tail` with matching counts. */
function isExcerpt(output: string, whole: string, size: number): boolean {
  if (whole.startsWith(output)) return true
  const text = output.replace(/^Total output lines: \d+\n\n/, '')
  return [text, output].some((one) =>
    [...one.matchAll(/…(\d+) tokens truncated…/g)].some(({ index, 0: note, 1: tokens }) => {
      const before = one.slice(0, index)
      const after = one.slice(index + note.length)
      const removed = size - Buffer.byteLength(before) - Buffer.byteLength(after)
      return whole.startsWith(before) && whole.endsWith(after) && Number(tokens) === Math.ceil(removed / 4)
    }),
  )
}
