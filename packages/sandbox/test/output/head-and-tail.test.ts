import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { completeCharacters, HeadAndTail } from '../../src/output/head-and-tail.ts'
import { chunks } from './chunks.ts'

describe('the head and the tail of a stream', () => {
  it.each([
    ['everything while it fits', 10, ['abcde', 'fghij'], 'abcdefghij', 0, ''],
    ['both ends of output that does not fit', 6, ['abcde', 'fghij'], 'abc', 4, 'hij'],
    ['one more byte of the head with an odd limit', 5, ['abcdefghij'], 'abc', 5, 'ij'],
    ['nothing with the limit 0', 0, ['abc'], '', 3, ''],
    ['nothing of an empty stream', 4, ['', ''], '', 0, ''],
  ])('keeps %s', (_name, limit, given, head, skipped, tail) => {
    const kept = new HeadAndTail(limit)
    for (const chunk of given) kept.push(Buffer.from(chunk))
    expect({ ...kept.parts(), skipped: kept.skipped }).toEqual({
      head: Buffer.from(head),
      skipped,
      tail: Buffer.from(tail),
    })
  })

  it('head, skipped bytes and tail add up to the stream for any chunks and shares', () => {
    const share = fc.constantFrom(0, 0.25, 0.5, 1)
    fc.assert(
      fc.property(chunks(), fc.integer({ min: 0, max: 64 }), share, (given, limit, headShare) => {
        const whole = Buffer.concat(given)
        const kept = new HeadAndTail(limit, headShare)
        for (const chunk of given) kept.push(chunk)
        const { head, tail } = kept.parts()
        expect(kept.bytes).toBe(whole.length)
        expect(head.length + tail.length).toBe(Math.min(limit, whole.length))
        expect(kept.skipped).toBe(whole.length - head.length - tail.length)
        expect(head).toEqual(whole.subarray(0, head.length))
        expect(tail).toEqual(whole.subarray(whole.length - tail.length))
        if (kept.skipped === 0) expect(tail).toHaveLength(0)
      }),
    )
  })

  it('formats complete characters with the number of missing bytes', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 }).map((one) => one.toWellFormed())
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 40 }), (whole, limit) => {
        const kept = new HeadAndTail(limit)
        kept.push(Buffer.from(whole))
        const [before = '', missing, after = ''] = kept.text().split(/\n… (\d+) bytes left out …\n/)
        expect(whole.startsWith(before) && whole.endsWith(after)).toBe(true)
        const left = Buffer.byteLength(whole) - Buffer.byteLength(before) - Buffer.byteLength(after)
        expect(Number(missing ?? 0)).toBe(left)
      }),
    )
  })
})

describe('completeCharacters', () => {
  it.each([
    ['nothing', [], 0],
    ['a letter', [0x61], 1],
    ['the first half of two bytes', [0x61, 0xc3], 1],
    ['two of three bytes', [0x61, 0xe2, 0x82], 1],
    ['three of four bytes', [0x61, 0xf0, 0x9f, 0x98], 1],
    ['four of four bytes', [0xf0, 0x9f, 0x98, 0x80], 4],
    ['a byte that begins nothing', [0x61, 0xff], 2],
    ['an overlong beginning', [0x61, 0xc0], 2],
    ['a beginning above Unicode', [0x61, 0xf5], 2],
    ['continuations of nothing', [0x80, 0x80, 0x80, 0x80, 0x80], 5],
  ])('counts the bytes of complete characters: %s', (_name, bytes, count) => {
    expect(completeCharacters(Uint8Array.from(bytes))).toBe(count)
  })
})
