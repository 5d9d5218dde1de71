import type { JournalItem } from '@vitrine/protocol'
import { background } from '../src/waiting/background.ts'
import { withTimeLimit } from '../src/waiting/within.ts'

/** Reads a tail from its first item to the last message, and stores all items. */
export class TailFollower {
  readonly items: JournalItem[] = []
  readonly #reading: Promise<void>
  #failure: unknown

  constructor(tail: AsyncIterable<JournalItem>, lastMessage: string) {
    this.#reading = background(this.#read(tail, lastMessage))
  }

  /** Whether the start of that turn was received; throws if reading has failed. */
  sawTurn(turn: string): boolean {
    if (this.#failure !== undefined) throw this.#failure
    return this.items.findLast((item) => item.type === 'turn.started' && item.turn === turn) !== undefined
  }

  end(): Promise<void> {
    return withTimeLimit('the last message', this.#reading, 60_000)
  }

  async #read(tail: AsyncIterable<JournalItem>, lastMessage: string): Promise<void> {
    try {
      for await (const item of tail) {
        this.items.push(item)
        if (isMessage(item, lastMessage)) return
      }
      throw new Error(`The iterator ended after ${this.items.length} items.`)
    } catch (error) {
      this.#failure = error
      throw error
    }
  }
}

export function isMessage(item: JournalItem, text: string): boolean {
  return item.type === 'log.message' && item.data.message === text
}
