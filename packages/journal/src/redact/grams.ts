/** How many consecutive UTF-16 code units the filter hashes. */
export const gramLength = 4

/** Finds candidate positions of marked prefixes in a text: no false negatives, few false positives. */
export interface GramFilter {
  /** Marks the first four code units of a text. */
  add(text: string): void
  /** Removes one mark. */
  unmark(text: string): void
  /** The first index from `from` on where a marked prefix may start, or -1. */
  next(text: string, from: number): number
}

// The hash has 20 bits and shifts by five per code unit, so it covers exactly the last four.
const shift = 5
const mask = (1 << (shift * gramLength)) - 1
const full = 255

export function createGramFilter(): GramFilter {
  // The number of marks per hash. A saturated count stays at its maximum, because the real count is unknown.
  const counts = new Uint8Array(mask + 1)

  return {
    add(text) {
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

// From this length on, copying a text's low bytes and reading those takes half the time of reading its code units.
const longText = 192
const smallestPiece = 256
const bytes = new Uint8Array(64 * 1024)
const writer = Buffer.from(bytes.buffer)

/** Copies growing pieces, so that a text with many matches is not copied as a whole for each of them. */
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
