import { type JournalEvent, VitrineError } from '@vitrine/protocol'

/**
 * One committed event as it is stored. `body` is the event's JSON: the bytes that are hashed are also the bytes
 * that are stored, served and parsed.
 */
export class Entry {
  /** The position in the store's commit order, across all journals. */
  readonly position: number
  readonly journal: string
  readonly seq: number
  readonly hash: string
  readonly body: string
  #event: JournalEvent | undefined

  constructor(
    position: number,
    journal: string,
    seq: number,
    hash: string,
    body: string,
    event?: JournalEvent,
  ) {
    this.position = position
    this.journal = journal
    this.seq = seq
    this.hash = hash
    this.body = body
    this.#event = event
  }

  /** Deeply frozen, because all readers share it. */
  get event(): JournalEvent {
    this.#event ??= deepFreeze(this.#parse())
    return this.#event
  }

  /** The event's JSON; throws `store_corrupt` if it does not parse. */
  get text(): string {
    if (this.#event === undefined) this.#parse()
    return this.body
  }

  #parse(): JournalEvent {
    try {
      const event: unknown = JSON.parse(this.body)
      if (typeof event === 'object' && event !== null) return event as JournalEvent
    } catch (error) {
      throw this.#damaged(error)
    }
    throw this.#damaged()
  }

  #damaged(cause?: unknown): VitrineError {
    const { journal, seq } = this
    return new VitrineError(
      'store_corrupt',
      `Event ${seq} of the journal ${journal} is damaged: its body is not an event.`,
      {
        cause,
        details: { journal, seq },
      },
    )
  }
}

/** Runs for every event; iterating over `Object.keys` takes a third of the time of `for … in` here. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  const keys = Object.keys(value) as (keyof T)[]
  for (let index = 0; index < keys.length; index += 1) {
    const inner = value[keys[index]!]
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner)
  }
  return Object.freeze(value)
}
