import { VitrineError } from '@vitrine/protocol'

const encoder = new TextEncoder()
const plain = /^[A-Za-z0-9_.~-]$/

/**
 * Percent-encodes a text. A lone surrogate U+DC80 to U+DCFF stands for the byte 0x80 to 0xFF, as in every path;
 * `encodeURIComponent` would reject it.
 *
 * @example
 * percentEncode('caf\udce9') // 'caf%E9'
 */
export function percentEncode(text: string): string {
  let encoded = ''
  for (const character of text) {
    if (plain.test(character)) encoded += character
    else for (const byte of bytesOf(character)) encoded += `%${hex(byte)}`
  }
  return encoded
}

function bytesOf(character: string): Iterable<number> {
  const code = character.codePointAt(0)!
  if (code >= 0xdc80 && code <= 0xdcff) return [code - 0xdc00]
  if (character.isWellFormed()) return encoder.encode(character)
  // Encoded as U+FFFD it could be the name of another file.
  throw new VitrineError(
    'argument_invalid',
    `Expected well-formed text, got the lone surrogate U+${code.toString(16).toUpperCase()}.`,
  )
}

function hex(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, '0')
}
