import { decodePathText } from '@vitrine/protocol/primitives'
import { type Fields, textIn } from '../fields.ts'

/**
 * The path in a field. Each byte that is not valid UTF-8 becomes a lone surrogate U+DC80 to U+DCFF, so that different
 * names stay different; `escapeForTerminal` makes them visible.
 */
export function exactPath(data: Fields, key: 'path' | 'previousPath'): string | undefined {
  const base64 = textIn(data, `${key}Base64`)
  const bytes = base64 === undefined ? undefined : decodeBase64(base64)
  return bytes === undefined ? textIn(data, key) : decodePathText(bytes)
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** `undefined` if the text is not base64. */
function decodeBase64(base64: string): Uint8Array | undefined {
  const letters = base64.replace(/=+$/, '')
  const bytes = new Uint8Array(Math.floor((letters.length * 3) / 4))
  let at = 0
  let held = 0
  let bits = 0
  for (const letter of letters) {
    const value = alphabet.indexOf(letter)
    if (value < 0) return undefined
    held = ((held << 6) | value) & 0xfff
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes[at++] = held >> bits
  }
  return bytes
}
