import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutPieces, type OutputPiece } from '../../src/output/pieces.ts'
import { bytes, chunks } from './chunks.ts'

const largest = 64 * 1024

function cutAll(given: readonly Buffer[]): { pieces: OutputPiece[]; rests: Buffer[] } {
  const pieces: OutputPiece[] = []
  const rests: Buffer[] = []
  let left: Buffer = Buffer.alloc(0)
  for (const chunk of given) {
    const { pieces: found, rest } = cutPieces(Buffer.concat([left, chunk]), { last: false })
    pieces.push(...found)
    rests.push(rest)
    left = rest
  }
  const { pieces: found, rest } = cutPieces(left, { last: true })
  return { pieces: [...pieces, ...found], rests: [...rests, rest] }
}

const decoded = ({ data, encoding }: OutputPiece) => Buffer.from(data, encoding)

function expectWhole(given: readonly Buffer[]): void {
  const { pieces, rests } = cutAll(given)
  expect(Buffer.concat(pieces.map(decoded))).toEqual(Buffer.concat(given))
  for (const piece of pieces) {
    expect(decoded(piece)).toHaveLength(piece.bytes)
    expect(piece.bytes).toBeGreaterThan(0)
    expect(Buffer.byteLength(piece.data)).toBeLessThanOrEqual(largest)
  }
  for (const rest of rests) expect(rest.length).toBeLessThan(4)
  expect(rests.at(-1)).toHaveLength(0)
}

describe('the pieces of output', () => {
  it('the pieces add up to the input, for any chunks', () => {
    fc.assert(fc.property(chunks(), expectWhole))
  })

  it('the pieces add up to an input that is longer than one piece', () => {
    fc.assert(
      fc.property(bytes(), fc.integer({ min: 0, max: 3 }), fc.nat({ max: 5 }), (part, shift, end) => {
        if (part.length === 0) return
        const whole = Buffer.alloc(2 * largest + 40, part)
        expectWhole([whole.subarray(shift, whole.length - end)])
      }),
      { numRuns: 40 },
    )
  })

  it('the pieces are text where possible, and only complete characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 4 }), (text, size) => {
        const whole = Buffer.from(text)
        const given = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
          whole.subarray(index * size, (index + 1) * size),
        )
        const { pieces } = cutAll(given)
        expect(pieces.map(({ encoding }) => encoding)).toEqual(pieces.map(() => 'utf8'))
        expect(pieces.map(({ data }) => data).join('')).toBe(text.toWellFormed())
      }),
    )
  })

  it.each([
    ['an incomplete last character', [0xe2, 0x82], [['base64', 2]]],
    ['bytes that are not text', [0x61, 0xff, 0x62], [['base64', 3]]],
    [
      'text before an incomplete character',
      [0x61, 0xe2, 0x82],
      [
        ['utf8', 1],
        ['base64', 2],
      ],
    ],
    ['a NUL', [0x61, 0, 0x62], [['utf8', 3]]],
  ])('encodes %s', (_name, given, expected) => {
    const { pieces } = cutPieces(Buffer.from(given), { last: true })
    expect(pieces.map(({ encoding, bytes: size }) => [encoding, size])).toEqual(expected)
  })

  it('keeps an incomplete character for the next call', () => {
    const { pieces, rest } = cutPieces(Buffer.from([0xf0, 0x9f, 0x98]), { last: false })
    expect(pieces).toEqual([])
    expect(rest).toHaveLength(3)
  })
})
