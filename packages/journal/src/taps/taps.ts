import { type MatchedEvent, matchTypes, VitrineError } from '@vitrine/protocol'
import { checkOptions, journalOptions } from '@vitrine/protocol/options'
import { copyEvent, notifyOne, type ObserverErrors } from '@vitrine/protocol/primitives'
import type { Entry } from '../entry.ts'

export type Tap<Pattern extends string = string> = (event: MatchedEvent<Pattern>) => void | PromiseLike<void>

export interface TapOptions<Pattern extends string = string> {
  /** Names the tap in reports of its errors; default `tap`. */
  readonly name?: string
  readonly types?: readonly Pattern[]
  /** Wait for each call before the next one; events that do not fit into `queue` are dropped and counted. */
  readonly ordered?: boolean
  /** Most events queued for an ordered tap (default 1,000) or in flight in an unordered one (default 10,000). */
  readonly queue?: number
}

/** Removes the tap. Its counters stay readable. */
export interface Untap {
  (): void
  readonly delivered: number
  readonly errors: number
  readonly dropped: number
}

/** The taps of one journal. A tap gets copies, and its errors and delays do not affect the journal. */
export class Taps {
  readonly #attached = new Set<AttachedTap>()
  readonly #errors: ObserverErrors

  constructor(errors: ObserverErrors) {
    this.#errors = errors
  }

  get size(): number {
    return this.#attached.size
  }

  add(tap: Tap, options: TapOptions = {}): Untap {
    if (typeof tap !== 'function') throw new VitrineError('argument_invalid', 'tap: expected a function.')
    checkOptions('tap', journalOptions.tap, options)
    const attached = new AttachedTap(tap, options, this.#errors)
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

  deliver(entries: readonly Entry[]): void {
    // A tap may add taps: those get only later commits.
    for (const attached of [...this.#attached]) {
      for (const entry of entries) attached.deliver(entry)
    }
  }
}

class AttachedTap {
  delivered = 0
  errors = 0
  dropped = 0
  readonly #tap: Tap
  readonly #matches: (type: string) => boolean
  readonly #ordered: boolean
  readonly #maxQueued: number
  readonly #name: string
  readonly #errors: ObserverErrors
  readonly #queue: Entry[] = []
  #busy = false
  #inFlight = 0
  #stopped = false

  constructor(
    tap: Tap,
    { name = 'tap', types, ordered = false, queue = ordered ? 1_000 : 10_000 }: TapOptions,
    errors: ObserverErrors,
  ) {
    this.#tap = tap
    this.#matches = matchTypes(types)
    this.#ordered = ordered
    this.#maxQueued = queue
    this.#name = name
    this.#errors = errors
  }

  deliver(entry: Entry): void {
    if (this.#stopped || !this.#matches(entry.event.type)) return
    if ((this.#ordered ? this.#queue.length : this.#inFlight) >= this.#maxQueued) this.dropped += 1
    else if (!this.#ordered) void this.#call(entry)
    else {
      this.#queue.push(entry)
      if (!this.#busy) void this.#drain()
    }
  }

  stop(): void {
    this.#stopped = true
    this.#queue.length = 0
  }

  async #drain(): Promise<void> {
    this.#busy = true
    for (let entry = this.#queue.shift(); entry; entry = this.#queue.shift()) await this.#call(entry)
    this.#busy = false
  }

  async #call(entry: Entry): Promise<void> {
    this.delivered += 1
    const event = copyEvent(entry.event)
    const ended = notifyOne(this.#tap, event, (error) => {
      this.errors += 1
      // Not the copy, which the tap may have changed.
      this.#errors.report(this.#name, error, entry.event)
    })
    // Only asynchronous calls can accumulate.
    if (ended === undefined) return
    this.#inFlight += 1
    await ended
    this.#inFlight -= 1
  }
}
