import { openStore, sqliteStore } from '@vitrine/journal'
import type { JournalItem } from '@vitrine/protocol'

/** A reader in another process than the writer: the events it gets must survive a crash of the writer. */
export class OutsideReader {
  readonly items: JournalItem[] = []
  readonly #abort = new AbortController()
  readonly #done: Promise<void>

  constructor(path: string) {
    this.#done = this.#read(path)
    this.#done.catch(() => undefined)
  }

  async #read(path: string): Promise<void> {
    await using store = await openStore(sqliteStore({ path }), { readOnly: true })
    for await (const item of store.tail({ after: 'now', signal: this.#abort.signal })) this.items.push(item)
  }

  async stop(): Promise<readonly JournalItem[]> {
    this.#abort.abort()
    await this.#done
    return this.items
  }
}
