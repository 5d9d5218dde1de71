import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LineCutter, type OutputPiece } from '../../src/bridge/lines.ts'

const max = 40

/** All pieces of these bytes, cut into chunks at these places. */
function cut(bytes: Buffer, places: readonly number[], limit = max): OutputPiece[] {
  const cutter = new LineCutter(limit)
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1))), bytes.length].sort(
    (a, b) => a - b,
  )
  const pieces: OutputPiece[] = []
  let from = 0
  for (const end of ends) {
    pieces.push(...cutter.take(bytes.subarray(from, end)))
    from = end
  }
  return [...pieces, ...cutter.end()]
}

const places = fc.array(fc.nat(), { maxLength: 20 })

it('cuts the same lines whatever the chunks are, also in the middle of a letter', () => {
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

it('gives the same pieces of any bytes whatever the chunks are', () => {
  const bytes = fc
    .array(fc.oneof(fc.constant(0x0a), fc.constant(0x61), fc.nat(255)), { maxLength: 200 })
    .map((numbers) => Buffer.from(numbers))
  fc.assert(
    fc.property(bytes, places, (all, at) => {
      expect(cut(all, at)).toEqual(cut(all, []))
    }),
  )
})

it('loses no byte of a line within the limit, whether it is UTF-8 or not', () => {
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

it('keeps the beginning of a line that is too long, once, and goes on with the next', () => {
  const long = 'x'.repeat(max * 3)
  for (const at of [[], [1], [max], [max + 1], [max, max + 1, 2 * max]]) {
    expect(cut(Buffer.from(`a\n${long}\nb\n`), at)).toEqual([
      { kind: 'line', text: 'a', bytes: 1 },
      { kind: 'garbage', bytes: Buffer.from(long.slice(0, max)), reason: expect.any(String), tooLong: true },
      { kind: 'line', text: 'b', bytes: 1 },
    ])
  }
})

it('takes a line of exactly the limit', () => {
  const just = 'x'.repeat(max)
  expect(cut(Buffer.from(`${just}\n`), [7])).toEqual([{ kind: 'line', text: just, bytes: max }])
})

it('never holds more than the limit', () => {
  const cutter = new LineCutter(max)
  const pieces = Array.from({ length: 100 }, () => cutter.take(Buffer.alloc(max, 'x'))).flat()
  expect(pieces).toHaveLength(1)
  expect(cutter.end()).toEqual([])
})

it('keeps what was cut off as the bytes it is', () => {
  expect(cut(Buffer.from('{"jsonrpc":"2.'), [])).toEqual([
    { kind: 'garbage', bytes: Buffer.from('{"jsonrpc":"2.'), reason: 'cut off before its end' },
  ])
  const half = Buffer.from('é').subarray(0, 1)
  expect(cut(half, [])).toMatchObject([{ kind: 'garbage', bytes: half }])
})

it('passes over empty lines, and takes those that end with a carriage return', () => {
  const pieces = cut(Buffer.from('\n \r\n{}\r\n\n'), [])
  expect(pieces).toMatchObject([{ kind: 'line', text: '{}\r' }])
})
