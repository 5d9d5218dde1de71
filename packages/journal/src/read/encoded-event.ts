import type { JournalItem, TailOptions } from '@vitrine/protocol'
import type { ReadScope } from './read-scope.ts'
import { keyOf, type ScannedItem, toItem } from './scan.ts'

export interface TailEncodedOptions extends TailOptions {
  /** The most items that are buffered for one reader, 1 to 10,000; default 1,000. */
  readonly page?: number
}

/**
 * An item to be sent to a remote reader. Its fields are computed on first use. All readers of one scope share the
 * `EncodedEvent` of a recent event.
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

  /** False for a gap. */
  get isEvent(): boolean {
    return 'body' in this.#found
  }

  /** The cursor to resume reading after this item. */
  get cursor(): string {
    return this.#scope.cursor(keyOf(this.#found, this.#scope.journal))
  }

  get item(): JournalItem {
    return toItem(this.#found, () => this.cursor)
  }

  /** The item as JSON; for an event, the bytes that are stored and hashed. */
  get json(): string {
    return 'body' in this.#found ? this.#found.body : JSON.stringify(this.item)
  }

  /** The item encoded by `framing`. The result is cached, so that all readers share it. */
  frame(framing: (delivery: EncodedEvent) => Uint8Array): Uint8Array {
    if (this.#frame === undefined || this.#framing !== framing) {
      this.#frame = framing(this)
      this.#framing = framing
    }
    return this.#frame
  }
}
