import { VitrineError } from '../errors/vitrine-error.ts'

/**
 * A path is bytes, usually UTF-8. As text, each byte that is not valid UTF-8 is a lone surrogate U+DC80 to U+DCFF, so that
 * bytes and texts map one to one (Python calls this `surrogateescape`).
 */

const escapedByte = /([\udc80-\udcff])/u
const straySurrogate = /[\ud800-\udc7f\udd00-\udfff]/u

const encoder = new TextEncoder()
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Whether a text represents bytes: it is well-formed, except for surrogates that represent single bytes. */
export function isPathText(text: string): boolean {
  return text.isWellFormed() || !straySurrogate.test(text)
}

/**
 * The bytes of a path. Throws if the text represents none: encoded as U+FFFD it could be the name of another file.
 *
 * @example
 * encodePathText('a\udcff') // Uint8Array [0x61, 0xff]
 */
export function encodePathText(text: string): Uint8Array<ArrayBuffer> {
  if (text.isWellFormed()) return encoder.encode(text)
  const stray = straySurrogate.exec(text)?.[0]
  if (stray !== undefined)
    throw new VitrineError(
      'argument_invalid',
      `Expected well-formed text, got the lone surrogate U+${stray.charCodeAt(0).toString(16).toUpperCase()}.`,
    )
  const bytes = new Uint8Array(text.length * 3)
  let length = 0
  // Because of the capturing group, every second part is an escaped byte.
  for (const [index, part] of text.split(escapedByte).entries()) {
    if (index % 2 === 0) length += encoder.encodeInto(part, bytes.subarray(length)).written
    else bytes[length++] = part.charCodeAt(0) - 0xdc00
  }
  return bytes.slice(0, length)
}

/** The text of a path. */
export function decodePathText(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    return decodeWithEscapes(bytes)
  }
}

function decodeWithEscapes(bytes: Uint8Array): string {
  let text = ''
  let from = 0
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at)
    at += length || 1
    if (length > 0) continue
    text += strict.decode(bytes.subarray(from, at - 1)) + String.fromCharCode(0xdc00 + bytes[at - 1]!)
    from = at
  }
  return text + strict.decode(bytes.subarray(from))
}

/** The length of the valid UTF-8 sequence at a position, or 0. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!
  if (first < 0x80) return 1
  if (first < 0xc2 || first > 0xf4) return 0
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  // No overlong forms, no surrogates, nothing above U+10FFFF.
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  const second = bytes[at + 1] ?? 0
  if (second < least || second > most) return 0
  for (let next = at + 2; next < at + length; next += 1) if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0
  return length
}
