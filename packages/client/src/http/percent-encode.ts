import { encodePathText } from '@vitrine/protocol/primitives'

const plain = /[A-Za-z0-9_.~-]/

/**
 * Percent-encodes the bytes of a text. A lone surrogate U+DC80 to U+DCFF stands for one byte, as in every path;
 * `encodeURIComponent` would reject it.
 *
 * @example
 * percentEncode('caf\udce9') // 'caf%E9'
 */
export function percentEncode(text: string): string {
  let encoded = ''
  for (const byte of encodePathText(text)) {
    const letter = String.fromCharCode(byte)
    encoded += plain.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return encoded
}
