/** How many UTF-16 code units in a row the filter looks at. */
export const gramLength = 4

/** Tells where marked beginnings may stand in a text: it misses none, and errs seldom. */
export interface GramFilter {
  /** Marks the first four code units of a text. */
  mark(text: string): void
  /** Takes one mark back. */
  unmark(text: string): void
  /** The first place from `from` on where a marked beginning may stand, or -1. */
  next(text: string, from: number): number
}

// Shifted by five bits at each step, a low byte has left a hash of twenty bits after four.
const shift = 5
const mask = (1 << (shift * gramLength)) - 1
const full = 255

export function createGramFilter(): GramFilter {
  // How many marks fell on each hash. A full count stays full: it can no longer be told apart from more.
  const counts = new Uint8Array(mask + 1)

  return {
    mark(text) {
      const hash = hashOf(text)
      if (counts[hash]! < full) counts[hash]!++
    },
    unmark(text) {
      const hash = hashOf(text)
      if (counts[hash]! < full) counts[hash]!--
    },
    next(text, from) {
      if (text.length - from < longText) return nextInText(counts, text, from)
      return nextInLongText(counts, text, from)
    },
  }
}

function hashOf(text: string): number {
  let hash = 0
  for (let at = 0; at < gramLength; at++) hash = step(hash, text.charCodeAt(at))
  return hash
}

function step(hash: number, unit: number): number {
  return ((hash << shift) ^ (unit & 255)) & mask
}

function nextInText(counts: Uint8Array, text: string, from: number): number {
  let hash = 0
  const last = text.length
  const first = from + gramLength - 1
  for (let at = from; at < first && at < last; at++) hash = step(hash, text.charCodeAt(at))
  for (let at = first; at < last; at++) {
    hash = step(hash, text.charCodeAt(at))
    if (counts[hash] !== 0) return at - gramLength + 1
  }
  return -1
}

// From here on, writing a text's low bytes out and reading them costs half of reading its code units.
const longText = 192
const smallestPiece = 256
const bytes = new Uint8Array(64 * 1024)
const writer = Buffer.from(bytes.buffer)

/** In pieces that grow, so that a text full of marks is not written out again for each of them. */
function nextInLongText(counts: Uint8Array, text: string, from: number): number {
  let size = smallestPiece
  for (let start = from; text.length - start >= gramLength; start += size - gramLength + 1) {
    if (start > from) size = Math.min(size * 4, bytes.length)
    const found = nextInBytes(counts, writer.write(text.slice(start, start + size), 'latin1'))
    if (found !== -1) return start + found
  }
  return -1
}

function nextInBytes(counts: Uint8Array, length: number): number {
  let hash = 0
  for (let at = 0; at < gramLength - 1; at++) hash = step(hash, bytes[at]!)
  for (let at = gramLength - 1; at < length; at++) {
    hash = step(hash, bytes[at]!)
    if (counts[hash] !== 0) return at - gramLength + 1
  }
  return -1
}
