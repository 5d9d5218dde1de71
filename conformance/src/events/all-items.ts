import { type JournalItem, type ReadOptions, readPages } from '@vitrine/protocol'

/** Reads all items page by page, in the requested order. */
export async function allItems(
  from: Parameters<typeof readPages>[0],
  options: ReadOptions = {},
): Promise<readonly JournalItem[]> {
  const items: JournalItem[] = []
  for await (const { events } of readPages(from, options)) for (const item of events) items.push(item)
  return items
}
