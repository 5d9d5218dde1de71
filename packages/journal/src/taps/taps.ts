import { type JournalEvent, matchTypes, VitrineError } from '@vitrine/protocol'
import { checkOptions, journalOptions } from '@vitrine/protocol/options'
import type { Entry } from '../entry.ts'
import { copyEvent } from './copy.ts'

export type Tap = (event: JournalEvent) => void | PromiseLike<void>

export interface TapOptions {
  readonly types?: readonly string[]
  /** Wait for each call before the next; what does not fit into `queue` is dropped and counted. */
  readonly ordered?: boolean
  /** How many events may wait for an ordered tap, or be under way in another: 1,000 and 10,000 without it. */
  readonly queue?: number
}

/** Takes the tap off. What it counted stays readable. */
export interface Untap {
  (): void
  readonly delivered: number
  readonly errors: number
  readonly dropped: number
}

export type OnTapError = (error: unknown, event: JournalEvent) => void | PromiseLike<void>

/** The taps of one journal. A tap sees copies, and nothing it does reaches the journal. */
export class Taps {
  readonly #attached = new Set<Attached>()
  readonly #onError: OnTapError

  constructor(onError: OnTapError) {
    this.#onError = onError
  }

  get size(): number {
    return this.#attached.size
  }

  add(tap: Tap, options: TapOptions = {}): Untap {
    if (typeof tap !== 'function') throw new VitrineError('argument_invalid', 'tap: expected a function.')
    checkOptions('tap', journalOptions.tap, options)
    const attached = new Attached(tap, options, this.#onError)
    this.#attached.add(attached)
    const off = () => {
      this.#attached.delete(attached)
      attached.stop()
    }
    return Object.defineProperties(off, {
      delivered: { get: () => attached.delivered },
      errors: { get: () => attached.errors },
      dropped: { get: () => attached.dropped },
    }) as Untap
  }

  show(entries: readonly Entry[]): void {
    // A tap may add taps: they see what is committed from then on.
    for (const attached of [...this.#attached]) {
      for (const entry of entries) attached.show(entry)
    }
  }
}

class Attached {
  delivered = 0
  errors = 0
  dropped = 0
  readonly #tap: Tap
  readonly #matches: (type: string) => boolean
  readonly #ordered: boolean
  readonly #maxWaiting: number
  readonly #onError: OnTapError
  readonly #waiting: Entry[] = []
  #busy = false
  #underWay = 0
  #stopped = false

  constructor(
    tap: Tap,
    { types, ordered = false, queue = ordered ? 1_000 : 10_000 }: TapOptions,
    onError: OnTapError,
  ) {
    this.#tap = tap
    this.#matches = matchTypes(types)
    this.#ordered = ordered
    this.#maxWaiting = queue
    this.#onError = onError
  }

  show(entry: Entry): void {
    if (this.#stopped || !this.#matches(entry.event.type)) return
    if ((this.#ordered ? this.#waiting.length : this.#underWay) >= this.#maxWaiting) this.dropped += 1
    else if (!this.#ordered) void this.#call(entry)
    else {
      this.#waiting.push(entry)
      if (!this.#busy) void this.#drain()
    }
  }

  stop(): void {
    this.#stopped = true
    this.#waiting.length = 0
  }

  async #drain(): Promise<void> {
    this.#busy = true
    for (let entry = this.#waiting.shift(); entry; entry = this.#waiting.shift()) await this.#call(entry)
    this.#busy = false
  }

  async #call(entry: Entry): Promise<void> {
    this.delivered += 1
    const event = copyEvent(entry.event)
    try {
      const answer = this.#tap(event)
      // Only who waits for something can pile up.
      if (answer === undefined) return
      this.#underWay += 1
      await Promise.resolve(answer).finally(() => {
        this.#underWay -= 1
      })
    } catch (error) {
      this.errors += 1
      void this.#report(error, event)
    }
  }

  async #report(error: unknown, event: JournalEvent): Promise<void> {
    try {
      await this.#onError(error, event)
    } catch {
      // The observer of an observer is an observer too: it cannot fail anything.
    }
  }
}
