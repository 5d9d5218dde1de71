import type { JournalItem, TailOptions } from '@vitrine/protocol'
import type { ReadScope } from './read-scope.ts'
import { keyOf, type ScannedItem, toItem } from './scan.ts'

export interface TailEncodedOptions extends TailOptions {
  /** How many items are held for a reader at most, 1 to 10,000; default 1,000. */
  readonly page?: number
}

/**
 * An item on its way to readers elsewhere. Nothing is computed until it is asked for. All readers of one subject
 * get the same delivery of a recent event.
 */
export class EncodedEvent {
  readonly #found: ScannedItem
  readonly #scope: ReadScope
  #framing: ((delivery: EncodedEvent) => Uint8Array) | undefined
  #frame: Uint8Array | undefined

  constructor(found: ScannedItem, scope: ReadScope) {
    this.#found = found
    this.#scope = scope
  }

  /** False for the notice of a gap. */
  get isEvent(): boolean {
    return 'body' in this.#found
  }

  /** Where reading goes on after it. */
  get cursor(): string {
    return this.#scope.cursor(keyOf(this.#found, this.#scope.journal))
  }

  get item(): JournalItem {
    return toItem(this.#found, () => this.cursor)
  }

  /** The item as JSON; for an event, the very bytes that are stored and hashed. */
  get json(): string {
    return 'body' in this.#found ? this.#found.body : JSON.stringify(this.item)
  }

  /** What this framing makes of it: made once, for all who share it. */
  frame(framing: (delivery: EncodedEvent) => Uint8Array): Uint8Array {
    if (this.#frame === undefined || this.#framing !== framing) {
      this.#frame = framing(this)
      this.#framing = framing
    }
    return this.#frame
  }
}
