import { type JournalEvent, VitrineError } from '@vitrine/protocol'

/**
 * One committed event as the store keeps it. `body` is the event's JSON: the bytes that are hashed are the
 * bytes that are stored, served and parsed.
 */
export class Entry {
  /** The place in the store's commit order, over all journals. */
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

  /** Frozen to the bottom: all readers share it. */
  get event(): JournalEvent {
    this.#event ??= deepFreeze(this.#parse())
    return this.#event
  }

  /** The event's JSON, which is seen to be some. */
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
      `Event ${seq} of the journal ${journal} is damaged: it is no event.`,
      {
        cause,
        details: { journal, seq },
      },
    )
  }
}

/** By keys: a third of what `for … in` costs here, and this is done for every event. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  const keys = Object.keys(value) as (keyof T)[]
  for (let index = 0; index < keys.length; index += 1) {
    const inner = value[keys[index]!]
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner)
  }
  return Object.freeze(value)
}
