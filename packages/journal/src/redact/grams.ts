/** How many consecutive UTF-16 code units the filter hashes. */
export const gramLength = 4

/** Finds candidate positions of marked prefixes in a text: no false negatives, few false positives. */
export interface GramFilter {
  /** Marks the first four code units of a text. */
  add(text: string): void
  /** Removes one mark that `add` made. */
  unmark(text: string): void
  /** The first index from `from` on where a marked prefix may start, or -1. */
  next(text: string, from: number): number
  /** Whether a marked prefix may start in the first `length` bytes. */
  isIn(bytes: Uint8Array, length: number): boolean
}

// The hash has 20 bits and shifts by five per code unit, so it covers exactly the last four.
const shift = 5
const mask = (1 << (shift * gramLength)) - 1
const full = 255

/** Counts by hash, which are checked for every code unit, and by gram, for the few that share a hash with a mark. */
export interface Marks {
  /** A saturated count stays at its maximum, because the real count is unknown. */
  readonly hashes: Uint8Array
  /** By the low bytes of the code units. */
  readonly grams: Map<number, number>
}

export function marksOf(texts: readonly string[]): Marks {
  const marks: Marks = { hashes: new Uint8Array(mask + 1), grams: new Map() }
  for (const text of texts) addGram(marks, text)
  return marks
}

const noMarks = marksOf([])

/** A filter that starts with these marks, and copies them when it changes: most stores never register a secret. */
export function createGramFilter(first: Marks = noMarks): GramFilter {
  let marks = first

  return {
    add(text) {
      if (marks === first) marks = { hashes: first.hashes.slice(), grams: new Map(first.grams) }
      addGram(marks, text)
    },
    unmark(text) {
      const { hashes, grams } = marks
      const hash = hashOf(text)
      if (hashes[hash]! < full) hashes[hash]!--
      const gram = gramAt(text, 0)
      const left = (grams.get(gram) ?? 0) - 1
      if (left > 0) grams.set(gram, left)
      else grams.delete(gram)
    },
    next(text, from) {
      if (text.length - from < longText) return nextInText(marks, text, from)
      return nextInLongText(marks, text, from)
    },
    isIn: (bytes, length) => nextInBytes(marks, bytes, length) !== -1,
  }
}

function addGram({ hashes, grams }: Marks, text: string): void {
  const hash = hashOf(text)
  if (hashes[hash]! < full) hashes[hash]!++
  const gram = gramAt(text, 0)
  grams.set(gram, (grams.get(gram) ?? 0) + 1)
}

function hashOf(text: string): number {
  let hash = 0
  for (let at = 0; at < gramLength; at++) hash = step(hash, text.charCodeAt(at))
  return hash
}

function step(hash: number, unit: number): number {
  return ((hash << shift) ^ (unit & 255)) & mask
}

function gramAt(text: string, at: number): number {
  return gramOf(
    text.charCodeAt(at),
    text.charCodeAt(at + 1),
    text.charCodeAt(at + 2),
    text.charCodeAt(at + 3),
  )
}

function gramOf(first: number, second: number, third: number, fourth: number): number {
  return (first << 24) | ((second & 255) << 16) | ((third & 255) << 8) | (fourth & 255)
}

function nextInText({ hashes, grams }: Marks, text: string, from: number): number {
  let at = hashInText(hashes, text, from)
  while (at !== -1 && !grams.has(gramAt(text, at))) at = hashInText(hashes, text, at + 1)
  return at
}

/** The first index of a marked hash, or -1. The loop calls nothing, which makes it fast. */
function hashInText(hashes: Uint8Array, text: string, from: number): number {
  let hash = 0
  const last = text.length
  const first = from + gramLength - 1
  for (let at = from; at < first && at < last; at++) hash = step(hash, text.charCodeAt(at))
  for (let at = first; at < last; at++) {
    hash = step(hash, text.charCodeAt(at))
    if (hashes[hash] !== 0) return at - gramLength + 1
  }
  return -1
}

// From this length on, copying a text's low bytes and reading those takes half the time of reading its code units.
const longText = 192
const smallestPiece = 256
const piece = new Uint8Array(64 * 1024)
const writer = Buffer.from(piece.buffer)

/** Copies growing pieces, so that a text with many matches is not copied as a whole for each of them. */
function nextInLongText(marks: Marks, text: string, from: number): number {
  let size = smallestPiece
  for (let start = from; text.length - start >= gramLength; start += size - gramLength + 1) {
    if (start > from) size = Math.min(size * 4, piece.length)
    const found = nextInBytes(marks, piece, writer.write(text.slice(start, start + size), 'latin1'))
    if (found !== -1) return start + found
  }
  return -1
}

function nextInBytes({ hashes, grams }: Marks, bytes: Uint8Array, length: number): number {
  let at = hashInBytes(hashes, bytes, 0, length)
  while (at !== -1 && !grams.has(gramOf(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!)))
    at = hashInBytes(hashes, bytes, at + 1, length)
  return at
}

/** Two bytes a turn take a fifth less time. */
function hashInBytes(hashes: Uint8Array, bytes: Uint8Array, from: number, length: number): number {
  if (length - from < gramLength) return -1
  let hash = step(step(step(0, bytes[from]!), bytes[from + 1]!), bytes[from + 2]!)
  let at = from + gramLength - 1
  for (; at + 1 < length; at += 2) {
    const first = step(hash, bytes[at]!)
    hash = step(first, bytes[at + 1]!)
    if ((hashes[first]! | hashes[hash]!) !== 0) return (hashes[first] === 0 ? at + 1 : at) - gramLength + 1
  }
  return at < length && hashes[step(hash, bytes[at]!)] !== 0 ? at - gramLength + 1 : -1
}
