import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodePathText, encodePathText, isPathText } from '../../src/primitives/index.ts'

// Bytes at the borders between valid and invalid UTF-8.
const borders = [
  ...[0x00, 0x41, 0x7f, 0x80, 0x82, 0x8f, 0x90, 0x98, 0x9f, 0xa0, 0xa9, 0xac, 0xb2, 0xbb, 0xbf, 0xc0],
  ...[0xc1, 0xc2, 0xc3, 0xdf, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff],
]
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.array(fc.constantFrom(...borders), { maxLength: 20 }).map((list) => Uint8Array.from(list)),
)

describe('decodePathText', () => {
  it('gives a text that encodePathText turns into the same bytes', () => {
    fc.assert(
      fc.property(bytes, (path) => {
        const text = decodePathText(path)
        expect(isPathText(text)).toBe(true)
        expect(encodePathText(text)).toEqual(path)
      }),
      { numRuns: 5_000 },
    )
  })

  it('gives different texts for different bytes', () => {
    fc.assert(
      fc.property(bytes, bytes, (one, other) => {
        expect(decodePathText(one) === decodePathText(other)).toBe(String(one) === String(other))
      }),
      { numRuns: 2_000 },
    )
  })

  it('escapes only bytes that no character of valid UTF-8 contains', () => {
    fc.assert(
      fc.property(bytes, (path) => {
        const replaced = new TextDecoder('utf-8', { ignoreBOM: true }).decode(path)
        const text = decodePathText(path).toWellFormed()
        // A decoder may replace several invalid bytes by one U+FFFD.
        expect(text.replace(/\ufffd+/g, '\ufffd')).toBe(replaced.replace(/\ufffd+/g, '\ufffd'))
      }),
      { numRuns: 5_000 },
    )
  })

  it.each([
    ['a byte that never occurs', [0x61, 0xff], 'a\udcff'],
    ['a surrogate', [0xed, 0xa0, 0x80], '\udced\udca0\udc80'],
    ['an overlong form', [0xc0, 0xaf], '\udcc0\udcaf'],
    ['a code point above U+10FFFF', [0xf4, 0x90, 0x80, 0x80], '\udcf4\udc90\udc80\udc80'],
    ['a sequence that is cut off', [0xe2, 0x82], '\udce2\udc82'],
    ['valid UTF-8 around an invalid byte', [0xc3, 0xa9, 0x80, 0xf0, 0x9f, 0x98, 0x80], 'é\udc80😀'],
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x61], '\ufeffa'],
  ])('decodes %s', (_what, given, text) => {
    expect(decodePathText(Uint8Array.from(given))).toBe(text)
  })
})

describe('encodePathText', () => {
  it('gives the UTF-8 of a well-formed text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(encodePathText(text)).toEqual(new TextEncoder().encode(text))
        expect(decodePathText(encodePathText(text))).toBe(text)
      }),
    )
  })

  it('refuses a surrogate that stands for no byte', () => {
    expect(() => encodePathText('a\udc00')).toThrow(
      expect.objectContaining({
        code: 'argument_invalid',
        message: 'Expected well-formed text, got the lone surrogate U+DC00.',
      }),
    )
  })
})

describe('isPathText', () => {
  it.each(['\ud800', 'a\udbff', '\udc7f', '\udc00', '\udd00', '\udfff', '\ud800\ud800', '\udc80\ud800'])(
    'refuses the unpaired surrogate of %j',
    (text) => expect(isPathText(text)).toBe(false),
  )

  it('accepts what encodePathText accepts', () => {
    const unit = fc.constantFrom(
      'a',
      'é',
      '\ud800',
      '\udbff',
      '\udc00',
      '\udc7f',
      '\udc80',
      '\udcff',
      '\udd00',
    )
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 6 }), (text) => {
        if (isPathText(text)) expect(isPathText(decodePathText(encodePathText(text)))).toBe(true)
        else expect(() => encodePathText(text)).toThrow('lone surrogate')
      }),
      { numRuns: 3_000 },
    )
  })
})
