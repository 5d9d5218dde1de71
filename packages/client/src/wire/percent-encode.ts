const encoder = new TextEncoder()
const plain = /^[A-Za-z0-9_.~-]$/

/**
 * The bytes of a text, percent-encoded. A lone surrogate U+DC80 to U+DCFF stands for the byte 0x80 to 0xFF, as in
 * every path: `encodeURIComponent` would refuse it.
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
  return code >= 0xdc80 && code <= 0xdcff ? [code - 0xdc00] : encoder.encode(character)
}

function hex(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, '0')
}
