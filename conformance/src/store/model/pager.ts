import type { Store } from '@vitrine/journal'
import { isGap, type JournalItem } from '@vitrine/protocol'

/** A reader of the whole store that reads page by page and keeps its cursor. */
export class Pager {
  readonly items: JournalItem[] = []
  #cursor: string | undefined

  async turn(store: Store, limit: number): Promise<boolean> {
    const page = await store.read({ limit, ...(this.#cursor !== undefined && { after: this.#cursor }) })
    this.items.push(...page.events)
    this.#cursor = page.cursor
    return page.end
  }

  /**
   * What is wrong with what it was given of one journal, or nothing. A hole has one place in the order of the whole
   * store, that of its last event: it may speak again of events that this reader had before they were trimmed.
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
      return `${journal}: it ended at ${last}, but the journal ends at ${end}`
    return undefined
  }
}
