import type { JournalItem, TailOptions } from '@vitrine/protocol'
import type { Subject } from './reader.ts'
import { type Found, toItem } from './scan.ts'
import type { Tail } from './tail.ts'

export interface DeliveryOptions extends TailOptions {
  /** How many items are held for a reader at most, 1 to 10,000; default 1,000. */
  readonly page?: number
}

/** A tail for whoever hands events on: in batches, and with the cursor of what was looked at in vain. */
export class Deliveries implements AsyncIterableIterator<Delivery, undefined> {
  readonly #subject: Subject
  readonly #tail: Tail<Delivery>
  #last: { readonly cursor: string } | undefined

  constructor(subject: Subject, tail: Tail<Delivery>) {
    this.#subject = subject
    this.#tail = tail
  }

  /** Where reading goes on from here: after everything that was given, and after what did not match. */
  get cursor(): string | undefined {
    const { scanned } = this.#tail
    if (scanned !== undefined) this.#last = { cursor: this.#subject.cursor(scanned) }
    return this.#last?.cursor
  }

  /** Once it is known where it begins; an error for a cursor that is not one of this subject. */
  begin(): Promise<void> {
    return this.#tail.begin()
  }

  /** All that is at hand, at least one; nothing once it has ended. */
  async batch(): Promise<readonly Delivery[] | undefined> {
    const batch = await this.#tail.batch()
    this.#last = batch?.at(-1) ?? this.#last
    return batch
  }

  async next(): Promise<IteratorResult<Delivery, undefined>> {
    const result = await this.#tail.next()
    if (!result.done) this.#last = result.value
    return result
  }

  return(): Promise<IteratorResult<Delivery, undefined>> {
    return this.#tail.return()
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

/**
 * An item on its way to readers elsewhere. Nothing is computed until it is asked for. All readers of one subject
 * get the same delivery of a recent event.
 */
export class Delivery {
  readonly #found: Found
  readonly #subject: Subject
  #framing: ((delivery: Delivery) => Uint8Array) | undefined
  #frame: Uint8Array | undefined

  constructor(found: Found, subject: Subject) {
    this.#found = found
    this.#subject = subject
  }

  /** False for the notice of a gap. */
  get isEvent(): boolean {
    return 'body' in this.#found
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

  /** What this framing makes of it: made once, for all who share it. */
  frame(framing: (delivery: Delivery) => Uint8Array): Uint8Array {
    if (this.#frame === undefined || this.#framing !== framing) {
      this.#frame = framing(this)
      this.#framing = framing
    }
    return this.#frame
  }
}
