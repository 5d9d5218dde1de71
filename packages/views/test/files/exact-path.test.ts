import fc from 'fast-check'
import { expect, it } from 'vitest'
import { exactPath } from '../../src/files/exact-path.ts'

const pathOf = (bytes: Uint8Array) =>
  exactPath({ path: 'lossy', pathBase64: Buffer.from(bytes).toString('base64') }, 'path') ?? ''

const bytesOf = (path: string) =>
  Buffer.concat(
    [...path].map((character) => {
      const code = character.codePointAt(0) ?? 0
      return code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - 0xdc00]) : Buffer.from(character)
    }),
  )

it('exactPath uses the path if there are no exact bytes', () => {
  expect(exactPath({ path: 'a/é' }, 'path')).toBe('a/é')
  expect(exactPath({ previousPath: 'b' }, 'previousPath')).toBe('b')
  expect(exactPath({}, 'path')).toBeUndefined()
})

it('exactPath uses the path if the bytes are not base64', () => {
  expect(exactPath({ path: 'a', pathBase64: '!' }, 'path')).toBe('a')
})

it('exactPath decodes UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(pathOf(Buffer.from(text))).toBe(text)
    }),
  )
})

it('exactPath keeps every byte that is not UTF-8, so that different names stay different', () => {
  expect(pathOf(Buffer.from([0x61, 0xff]))).toBe('a\udcff')
  expect(pathOf(Buffer.from([0xed, 0xa0, 0x80]))).toBe('\udced\udca0\udc80')
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
      expect([...bytesOf(pathOf(bytes))]).toEqual([...bytes])
    }),
  )
})
