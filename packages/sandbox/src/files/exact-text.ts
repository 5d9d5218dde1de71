/**
 * File names are bytes, usually UTF-8. A byte that is not valid UTF-8 is represented by a lone surrogate U+DC80 to
 * U+DCFF, so that names and texts map one to one (Python calls this `surrogateescape`).
 */
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

/** Converts a text to a file system argument: the text itself, or its bytes if it represents some that are not UTF-8. */
export function toBytes(text: string): string | Buffer {
  return text.isWellFormed() ? text : encode(text)
}

/** Whether a text represents a file name or path: well-formed, except for surrogates that represent single bytes. */
export function isExactText(text: string): boolean {
  return text.isWellFormed() || !loneSurrogate.test(text.replace(/(?<![\ud800-\udbff])[\udc80-\udcff]/g, ''))
}

/** Normalises a text: escaped bytes that together are valid UTF-8 become the characters they encode. */
export function toExactText(text: string): string {
  return text.isWellFormed() ? text : fromBytes(encode(text))
}

function encode(text: string): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit >= 0xd800 && unit <= 0xdbff) {
      at += 1
      continue
    }
    if (unit < 0xdc80 || unit > 0xdcff) continue
    parts.push(Buffer.from(text.slice(from, at)), Buffer.of(unit - 0xdc00))
    from = at + 1
  }
  parts.push(Buffer.from(text.slice(from)))
  return Buffer.concat(parts)
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function fromBytes(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    return decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  }
}

function decode(bytes: Buffer): string {
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at)
    text += length === 0 ? String.fromCharCode(0xdc00 + bytes[at]!) : bytes.toString('utf8', at, at + length)
    at += length || 1
  }
  return text
}

/** Returns the length of the valid UTF-8 sequence at a position, or 0. */
function sequenceLength(bytes: Buffer, at: number): number {
  const first = bytes[at]!
  if (first < 0x80) return 1
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0
  if (length === 0 || at + length > bytes.length) return 0
  try {
    strict.decode(bytes.subarray(at, at + length))
    return length
  } catch {
    return 0
  }
}
