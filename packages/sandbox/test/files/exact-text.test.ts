import { readdirSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromBytes, isExactText, toBytes } from '../../src/files/exact-text.ts'
import { folder } from './fixtures/folder.ts'

/** Bytes close to the border between valid and invalid UTF-8, more often than random bytes. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc
    .array(
      fc.constantFrom(
        0x41,
        0x80,
        0xbf,
        0xc0,
        0xc3,
        0xa9,
        0xe2,
        0x82,
        0xac,
        0xed,
        0xa0,
        0xb2,
        0xf0,
        0x9f,
        0x98,
        0xf4,
        0x90,
        0xff,
        0xef,
        0xbb,
        0xbf,
      ),
      { maxLength: 20 },
    )
    .map((list) => Uint8Array.from(list)),
)

describe('names as text', () => {
  it('bytes survive the conversion to text and back', () => {
    fc.assert(
      fc.property(bytes, (name) => {
        const text = fromBytes(name)
        expect(isExactText(text)).toBe(true)
        expect(Buffer.from(toBytes(text))).toEqual(Buffer.from(name))
      }),
      { numRuns: 3_000 },
    )
  })

  it('valid UTF-8 becomes the same text as a normal decoder gives', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(toBytes(text)).toBe(text)
        expect(fromBytes(Buffer.from(text))).toBe(text)
      }),
    )
  })

  it('different bytes give different texts', () => {
    fc.assert(
      fc.property(bytes, bytes, (one, other) => {
        expect(fromBytes(one) === fromBytes(other)).toBe(Buffer.compare(one, other) === 0)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each(['\ud800', 'a\udbff', '\udc7f', '\udc00', '\udd00', '\udfff', '\ud800\ud800'])(
    'rejects a text with an unpaired surrogate: %j',
    (text) => expect(isExactText(text)).toBe(false),
  )

  it('the text of a name never contains a slash or NUL', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.integer({ min: 0xdc80, max: 0xdcff }).map((unit) => String.fromCharCode(unit)),
        }),
        (text) => {
          const encoded = Buffer.from(toBytes(text))
          expect(encoded.includes(0x2f) || encoded.includes(0)).toBe(false)
        },
      ),
    )
  })

  it('names on disk are read and written exactly', () => {
    const root = folder()
    const names = [Buffer.of(0x61, 0xff), Buffer.of(0x80), Buffer.from('é'), Buffer.of(0xed, 0xa0, 0x80)]
    for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${root}/`), name]), '')
    const read = readdirSync(root, 'buffer')
    expect(read.map((name) => Buffer.from(toBytes(fromBytes(name))).toString('hex')).toSorted()).toEqual(
      names.map((name) => name.toString('hex')).toSorted(),
    )
  })
})
