/**
 * Finds where bytes of a text in UTF-8 are in the text. They are asked for in ascending order: each search continues
 * where the last one ended. `size` is the number of bytes.
 */
export function locateBytes(text: string, size: number): (byte: number, edge: 'start' | 'end') => number {
  if (size === text.length) return (byte) => byte
  let at = 0
  let bytes = 0
  return (byte, edge) => {
    while (at < text.length) {
      const point = text.codePointAt(at)!
      const next = at + (point > 0xffff ? 2 : 1)
      const length = utf8Length(point)
      if (bytes + length > byte) return bytes < byte && edge === 'end' ? next : at
      bytes += length
      at = next
    }
    return at
  }
}

function utf8Length(point: number): number {
  if (point < 0x80) return 1
  if (point < 0x800) return 2
  return point > 0xffff ? 4 : 3
}
