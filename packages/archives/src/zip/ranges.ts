import { invalid } from '../refusal.ts'
import type { ZipEntry } from './directory.ts'

const localBytes = 30

/**
 * Checks that entries do not overlap. Overlapping entries make a zip bomb, so all are checked before the first one is
 * unpacked.
 */
export function entryRanges(
  entries: readonly ZipEntry[],
  directoryAt: number,
): { check(entry: ZipEntry, end: number): void } {
  const starts = Float64Array.from(entries, ({ offset }) => offset).sort()
  const check = ({ offset }: ZipEntry, end: number) => {
    const next = firstAfter(starts, offset)
    const isShared = starts[next - 2] === offset
    if (isShared || end > (starts[next] ?? directoryAt)) throw invalid('has entries that overlap')
  }
  for (const entry of entries)
    check(entry, entry.offset + localBytes + entry.rawName.length + entry.compressed)
  return { check }
}

function firstAfter(sorted: Float64Array, value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! <= value) low = middle + 1
    else high = middle
  }
  return low
}
