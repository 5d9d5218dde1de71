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

  #parse(): JournalEvent {
    let event: unknown
    try {
      event = JSON.parse(this.body)
    } catch {}
    if (typeof event === 'object' && event !== null) return event as JournalEvent
    throw new VitrineError(
      'store_corrupt',
      `Event ${this.seq} of the journal ${this.journal} is damaged: what is stored is no event.`,
      { details: { journal: this.journal, seq: this.seq } },
    )
  }
}

export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const key in value) {
    const inner = value[key]
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner)
  }
  return Object.freeze(value)
}
