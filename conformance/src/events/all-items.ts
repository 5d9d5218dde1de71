import type { JournalItem, Page, ReadOptions } from '@vitrine/protocol'

/** Reads all items page by page, in the requested order. */
export async function allItems(
  from: { read(options?: ReadOptions): Promise<Page> },
  options: ReadOptions = {},
): Promise<readonly JournalItem[]> {
  const items: JournalItem[] = []
  const next = options.order === 'desc' ? 'before' : 'after'
  for (let page: Page | undefined; page === undefined || !page.end; ) {
    page = await from.read({ ...options, ...(page && { [next]: page.cursor }) })
    for (const item of page.events) items.push(item)
  }
  return items
}
