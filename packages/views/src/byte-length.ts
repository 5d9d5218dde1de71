import { countIn, type Fields, fieldsIn, textIn } from './fields.ts'

/** The number of bytes in the `data` of an output: text, base64 or a blob reference. */
export function byteLength(output: Fields): number {
  const text = textIn(output, 'data')
  if (text === undefined) return countIn(fieldsIn(output, 'data'), 'bytes') ?? 0
  return textIn(output, 'encoding') === 'base64' ? base64Length(text) : utf8Length(text)
}

function base64Length(text: string): number {
  return Math.floor((text.replace(/=+$/, '').length * 3) / 4)
}

function utf8Length(text: string): number {
  let bytes = 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    // Each surrogate counts for two of the four UTF-8 bytes of its pair.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
  }
  return bytes
}
