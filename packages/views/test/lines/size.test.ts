import { expect, it } from 'vitest'
import { sizeText } from '../../src/text/size.ts'

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1023, '1023 bytes'],
  [1536, '1.5 KiB'],
  [3 * 1024 ** 2, '3 MiB'],
  [5000 * 1024 ** 4, '5000 TiB'],
])('formats %d bytes for display', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})
