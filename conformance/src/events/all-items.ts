import { type JournalItem, type JournalReader, type ReadOptions, readPages } from '@vitrine/protocol'

/** Reads all items page by page, in the requested order. */
export async function allItems(
  from: Pick<JournalReader, 'read'>,
  options: ReadOptions = {},
): Promise<readonly JournalItem[]> {
  const items: JournalItem[] = []
  for await (const { events } of readPages(from, options)) for (const item of events) items.push(item)
  return items
}
