import { requireWholeNumber } from '@vitrine/protocol/primitives'

/** Size limits of a transcript. The oldest entries are dropped first. */
export interface TranscriptLimits {
  /** Maximum number of entries, default 10,000. */
  readonly maxEntries?: number
  /** Maximum number of characters of all entries, default 4,000,000. */
  readonly maxChars?: number
  /** Maximum number of characters of one entry, whose end is then cut; default 100,000. */
  readonly maxEntryChars?: number
  /** Maximum number of turns, default 1,000. */
  readonly maxTurns?: number
}

export function checkedLimits(limits: TranscriptLimits): Required<TranscriptLimits> {
  return {
    maxEntries: requireWholeNumber('limits.maxEntries', limits.maxEntries ?? 10_000, 1),
    maxChars: requireWholeNumber('limits.maxChars', limits.maxChars ?? 4_000_000, 1),
    maxEntryChars: requireWholeNumber('limits.maxEntryChars', limits.maxEntryChars ?? 100_000, 1),
    maxTurns: requireWholeNumber('limits.maxTurns', limits.maxTurns ?? 1000, 1),
  }
}
