import { readdirSync, writeFileSync } from 'node:fs'
import { decodePathText } from '@vitrine/protocol/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toBytes } from '../../src/directories/exact-text.ts'
import { folder } from '../fixtures/folder.ts'

describe('names as text', () => {
  it('well-formed text is its own argument', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(toBytes(text)).toBe(text)
      }),
    )
  })

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
    expect(read.map((name) => Buffer.from(toBytes(decodePathText(name))).toString('hex')).toSorted()).toEqual(
      names.map((name) => name.toString('hex')).toSorted(),
    )
  })
})
