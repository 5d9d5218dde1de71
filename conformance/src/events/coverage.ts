import { isGap, type JournalEvent, type JournalItem } from '@vitrine/protocol'

/** The events among items, without the notices. */
export function eventsOf(items: readonly JournalItem[]): JournalEvent[] {
  return items.filter((item): item is JournalEvent => !isGap(item))
}

export function seqsOf(items: readonly JournalItem[]): number[] {
  return eventsOf(items).map(({ seq }) => seq)
}

export function numbers(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}

/**
 * What is wrong with what one reader of one journal was given, or nothing: every `seq` after `start` exactly once,
 * in order, as an event or inside a gap, up to `end` where one is named.
 */
export function coverageFault(
  items: readonly JournalItem[],
  { start = 0, end }: { start?: number; end?: number } = {},
): string | undefined {
  let last = start
  for (const [index, item] of items.entries()) {
    const [from, to] = isGap(item) ? [item.data.from, item.data.to] : [item.seq, item.seq]
    const what = isGap(item) ? `gap ${from}-${to}` : `event ${from}`
    if (from !== last + 1) return `item ${index} is ${what}, but ${last + 1} was due`
    if (to < from) return `item ${index} is ${what}, which covers nothing`
    last = to
  }
  if (end !== undefined && last !== end) return `it ended at ${last}, but the journal ends at ${end}`
  return undefined
}
