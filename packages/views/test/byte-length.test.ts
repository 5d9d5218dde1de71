import fc from 'fast-check'
import { expect, it } from 'vitest'
import { byteLength } from '../src/byte-length.ts'

it('byteLength counts the UTF-8 bytes of text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (data) => {
      expect(byteLength({ data, encoding: 'utf8' })).toBe(Buffer.byteLength(data))
    }),
  )
})

it('byteLength counts the decoded bytes of base64', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const data = Buffer.from(bytes).toString('base64')
      expect(byteLength({ data, encoding: 'base64' })).toBe(bytes.length)
    }),
  )
})

it('byteLength takes the size of a blob from its reference', () => {
  expect(byteLength({ data: { blob: 'sha256:1', bytes: 70_000 }, encoding: 'utf8' })).toBe(70_000)
})
