import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LineCutter, type LinePiece } from '../../src/bridge/lines.ts'

const max = 40

/** All pieces of the bytes, split into chunks at the given offsets. */
function cut(bytes: Buffer, places: readonly number[], limit = max): LinePiece[] {
  const cutter = new LineCutter(limit)
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1))), bytes.length].sort(
    (a, b) => a - b,
  )
  const pieces: LinePiece[] = []
  let from = 0
  for (const end of ends) {
    pieces.push(...cutter.take(bytes.subarray(from, end)))
    from = end
  }
  return [...pieces, ...cutter.end()]
}

const places = fc.array(fc.nat(), { maxLength: 20 })

it('returns the same lines for any chunking, even within a character', () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 10 }).filter((text) => !text.includes('\n'))
  fc.assert(
    fc.property(fc.array(line, { maxLength: 10 }), places, (lines, at) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''))
      const whole = lines.filter((text) => text.trim() !== '')
      const pieces = cut(bytes, at, 1_000)
      expect(pieces.map((piece) => (piece.kind === 'line' ? piece.text : piece.reason))).toEqual(whole)
    }),
  )
})

it('returns the same pieces of arbitrary bytes for any chunking', () => {
  const bytes = fc
    .array(fc.oneof(fc.constant(0x0a), fc.constant(0x61), fc.nat(255)), { maxLength: 200 })
    .map((numbers) => Buffer.from(numbers))
  fc.assert(
    fc.property(bytes, places, (all, at) => {
      expect(cut(all, at)).toEqual(cut(all, []))
    }),
  )
})

it('loses no byte of a line within the limit, UTF-8 or not', () => {
  const line = fc
    .array(
      fc.nat(255).filter((byte) => byte !== 0x0a),
      { minLength: 1, maxLength: max },
    )
    .map((numbers) => Buffer.from(numbers))
    .filter((bytes) => bytes.toString('utf8').trim() !== '' && !bytes.toString('utf8').startsWith('\ufeff'))
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), places, (lines, at) => {
      const pieces = cut(Buffer.concat(lines.flatMap((one) => [one, Buffer.from('\n')])), at)
      const kept = pieces.map((piece) => (piece.kind === 'line' ? Buffer.from(piece.text) : piece.bytes))
      expect(kept).toEqual(lines)
    }),
  )
})

it('returns the beginning of a line that is too long, once, and continues with the next line', () => {
  const long = 'x'.repeat(max * 3)
  for (const at of [[], [1], [max], [max + 1], [max, max + 1, 2 * max]]) {
    expect(cut(Buffer.from(`a\n${long}\nb\n`), at)).toEqual([
      { kind: 'line', text: 'a', bytes: 1 },
      { kind: 'garbage', bytes: Buffer.from(long.slice(0, max)), reason: expect.any(String), tooLong: true },
      { kind: 'line', text: 'b', bytes: 1 },
    ])
  }
})

it('accepts a line of exactly the limit', () => {
  const just = 'x'.repeat(max)
  expect(cut(Buffer.from(`${just}\n`), [7])).toEqual([{ kind: 'line', text: just, bytes: max }])
})

it('never buffers more than the limit', () => {
  const cutter = new LineCutter(max)
  const pieces = Array.from({ length: 100 }, () => cutter.take(Buffer.alloc(max, 'x'))).flat()
  expect(pieces).toHaveLength(1)
  expect(cutter.end()).toEqual([])
})

it('returns a truncated last line as bytes', () => {
  expect(cut(Buffer.from('{"jsonrpc":"2.'), [])).toEqual([
    { kind: 'garbage', bytes: Buffer.from('{"jsonrpc":"2.'), reason: 'cut off before its end' },
  ])
  const half = Buffer.from('é').subarray(0, 1)
  expect(cut(half, [])).toMatchObject([{ kind: 'garbage', bytes: half }])
})

it('skips empty lines, and accepts lines that end with a carriage return', () => {
  const pieces = cut(Buffer.from('\n \r\n{}\r\n\n'), [])
  expect(pieces).toMatchObject([{ kind: 'line', text: '{}\r' }])
})
