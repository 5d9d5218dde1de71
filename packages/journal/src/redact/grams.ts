/** How many UTF-16 code units in a row the filter looks at. */
export const gramLength = 4

/** Tells where marked beginnings may stand in a text: it misses none, and errs seldom. */
export interface GramFilter {
  /** Marks the first four code units of a text. */
  mark(text: string): void
  /** The first place from `from` on where a marked beginning may stand, or -1. */
  next(text: string, from: number): number
}

// Shifted by a quarter of the table's bits at each step, a code unit has left the hash after four steps.
const smallShift = 4
const largeShift = 5
const smallCapacity = 4_000

export function createGramFilter(expected: number): GramFilter {
  const shift = expected > smallCapacity ? largeShift : smallShift
  const table = new Uint8Array(1 << (shift * gramLength))
  const mask = table.length - 1
  return {
    mark(text) {
      let hash = 0
      for (let at = 0; at < gramLength; at++) hash = ((hash << shift) ^ text.charCodeAt(at)) & mask
      table[hash] = 1
    },
    next(text, from) {
      const { length } = text
      if (length - from < gramLength) return -1
      let hash = text.charCodeAt(from)
      hash = (hash << shift) ^ text.charCodeAt(from + 1)
      hash = (hash << shift) ^ text.charCodeAt(from + 2)
      for (let at = from + gramLength - 1; at < length; at++) {
        hash = ((hash << shift) ^ text.charCodeAt(at)) & mask
        if (table[hash] !== 0) return at - gramLength + 1
      }
      return -1
    },
  }
}
