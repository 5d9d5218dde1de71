import type { JournalItem } from '@vitrine/protocol'
import type { Subject } from './reader.ts'
import { type Found, toItem } from './scan.ts'

/** An item on its way to a reader elsewhere. Nothing is computed until it is asked for. */
export class Delivery {
  readonly #found: Found
  readonly #subject: Subject

  constructor(found: Found, subject: Subject) {
    this.#found = found
    this.#subject = subject
  }

  /** Where reading goes on after it. */
  get cursor(): string {
    const { journal } = this.#subject
    const found = this.#found
    if (journal === null) return this.#subject.cursor(found.position)
    return this.#subject.cursor('body' in found ? found.seq : found.to)
  }

  get item(): JournalItem {
    return toItem(this.#found, () => this.cursor)
  }

  /** The item as JSON; for an event, the very bytes that are stored and hashed. */
  get json(): string {
    return 'body' in this.#found ? this.#found.body : JSON.stringify(this.item)
  }
}
