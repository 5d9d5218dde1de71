import { isGap, type JournalItem } from '@vitrine/protocol'
import { withTimeLimit } from './within.ts'

/** The next items of a tail; fails after a timeout. */
export async function take(
  tail: AsyncIterator<JournalItem, unknown>,
  count: number,
): Promise<readonly JournalItem[]> {
  const items: JournalItem[] = []
  while (items.length < count) {
    const { value, done } = await withTimeLimit(`item ${items.length + 1} of ${count}`, tail.next())
    if (done) throw new Error(`Expected ${count} items, but the tail ended after ${items.length}.`)
    items.push(value)
  }
  return items
}

/** The items of a tail up to the event with this `seq` or the gap that contains it. */
export async function takeTo(
  tail: AsyncIterator<JournalItem, unknown>,
  seq: number,
): Promise<readonly JournalItem[]> {
  const items: JournalItem[] = []
  for (;;) {
    const { value, done } = await withTimeLimit(`the items up to seq ${seq}`, tail.next())
    if (done) throw new Error(`Expected seq ${seq}, but the tail ended after ${items.length} items.`)
    const item: JournalItem = value
    items.push(item)
    if ((isGap(item) ? item.data.to : item.seq) >= seq) return items
  }
}
