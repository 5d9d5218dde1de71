import { type Fields, textIn } from '../fields.ts'

/**
 * The path in a field. Each byte that is not valid UTF-8 becomes a lone surrogate U+DC80 to U+DCFF, so that different
 * names stay different; `escapeForTerminal` makes them visible.
 */
export function exactPath(data: Fields, key: 'path' | 'previousPath'): string | undefined {
  const base64 = textIn(data, `${key}Base64`)
  const bytes = base64 === undefined ? undefined : decodeBase64(base64)
  return bytes === undefined ? textIn(data, key) : decodeUtf8(bytes)
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** One character U+0000 to U+00FF for each byte; `undefined` if the text is not base64. */
function decodeBase64(base64: string): string | undefined {
  let bytes = ''
  let held = 0
  let bits = 0
  for (const letter of base64.replace(/=+$/, '')) {
    const value = alphabet.indexOf(letter)
    if (value < 0) return undefined
    held = ((held << 6) | value) & 0xfff
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes += String.fromCharCode((held >> bits) & 0xff)
  }
  return bytes
}

const utf8 =
  /[^\x80-\xff]+|(?:[\xc2-\xdf]|\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f]|\xf0[\x90-\xbf][\x80-\xbf]|[\xf1-\xf3][\x80-\xbf]{2}|\xf4[\x80-\x8f][\x80-\xbf])[\x80-\xbf]|[\x80-\xff]/g

function decodeUtf8(bytes: string): string {
  return bytes.replace(utf8, (part) => {
    if (part.length === 1) {
      const byte = part.charCodeAt(0)
      return byte < 0x80 ? part : String.fromCharCode(0xdc00 + byte)
    }
    return part.charCodeAt(0) < 0x80 ? part : decodeURIComponent(percent(part))
  })
}

function percent(bytes: string): string {
  return [...bytes].map((byte) => `%${byte.charCodeAt(0).toString(16)}`).join('')
}
