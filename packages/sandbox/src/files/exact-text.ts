/**
 * Names of files are bytes, and most of them are UTF-8. A byte that is not stands in a text as a lone surrogate
 * U+DC80 to U+DCFF, so that every name has one text and every such text one name.
 */
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

/** What the file system calls take: the text, or where it stands for other bytes, those. */
export function toBytes(text: string): string | Buffer {
  return text.isWellFormed() ? text : encode(text)
}

/** True for a text that stands for a name, or for several in a path. */
export function isExactText(text: string): boolean {
  return text.isWellFormed() || !loneSurrogate.test(text.replace(/(?<![\ud800-\udbff])[\udc80-\udcff]/g, ''))
}

/** The one text of a name that may be spelled in several ways: bytes that are UTF-8 after all are read as such. */
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

/** Of the valid sequence that begins there, or 0. */
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
