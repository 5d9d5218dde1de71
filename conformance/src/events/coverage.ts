import { isGap, type JournalEvent, type JournalItem } from '@vitrine/protocol'

/** The events among items, without gaps. */
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
 * Checks the items that one reader of one journal received: every `seq` after `start` exactly once, in order, as an
 * event or inside a gap, up to `end` if given. Returns the first fault or undefined.
 */
export function coverageFault(
  items: readonly JournalItem[],
  { start = 0, end }: { start?: number; end?: number } = {},
): string | undefined {
  let last = start
  for (const [index, item] of items.entries()) {
    const [from, to] = isGap(item) ? [item.data.from, item.data.to] : [item.seq, item.seq]
    const what = isGap(item) ? `gap ${from}-${to}` : `event ${from}`
    if (from !== last + 1) return `item ${index} is ${what}, expected seq ${last + 1}`
    if (to < from) return `item ${index} is ${what}, which is empty`
    last = to
  }
  if (end !== undefined && last !== end) return `the items end at ${last}, but the journal ends at ${end}`
  return undefined
}
