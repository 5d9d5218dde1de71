import { wholeNumber } from '../limit.ts'

/** How much of a session a transcript keeps. The oldest goes first. */
export interface TranscriptLimits {
  /** How many entries, 10,000 by default. */
  readonly maxEntries?: number
  /** How many characters all entries hold together, 4,000,000 by default. */
  readonly maxChars?: number
  /** How many characters one entry holds before its end is left out, 100,000 by default. */
  readonly maxEntryChars?: number
  /** How many turns, 1,000 by default. */
  readonly maxTurns?: number
}

export function checkedLimits(limits: TranscriptLimits): Required<TranscriptLimits> {
  return {
    maxEntries: wholeNumber('limits.maxEntries', limits.maxEntries ?? 10_000, 1),
    maxChars: wholeNumber('limits.maxChars', limits.maxChars ?? 4_000_000, 1),
    maxEntryChars: wholeNumber('limits.maxEntryChars', limits.maxEntryChars ?? 100_000, 1),
    maxTurns: wholeNumber('limits.maxTurns', limits.maxTurns ?? 1000, 1),
  }
}
