import type { Store } from '@vitrine/journal'
import { isGap, type JournalItem } from '@vitrine/protocol'

/** A reader of the whole store that reads page by page with a cursor. */
export class Pager {
  readonly items: JournalItem[] = []
  #cursor: string | undefined

  async readPage(store: Store, limit: number): Promise<boolean> {
    const page = await store.read({ limit, ...(this.#cursor !== undefined && { after: this.#cursor }) })
    this.items.push(...page.events)
    this.#cursor = page.cursor
    return page.end
  }

  /**
   * The first fault in the items of one journal, or undefined. A hole has the commit position of its last event, so it
   * may cover events that this reader got before they were trimmed.
   */
  fault(journal: string, end?: number): string | undefined {
    let last = 0
    for (const item of this.items) {
      if (item.journal !== journal) continue
      const [from, to] = isGap(item) ? [item.data.from, item.data.to] : [item.seq, item.seq]
      if (from > last + 1) return `${journal}: after ${last} came ${from}`
      if (!isGap(item) && from <= last) return `${journal}: event ${from} came after ${last}`
      last = Math.max(last, to)
    }
    if (end !== undefined && last !== end)
      return `${journal}: the items end at ${last}, but the journal ends at ${end}`
    return undefined
  }
}
