import type { EventContext } from '@vitrine/protocol'

/** The turns that run in a sandbox. What changes meanwhile belongs to a turn only when it is the only one. */
export class ActiveTurns {
  readonly #turns = new Set<EventContext>()

  get only(): EventContext | undefined {
    if (this.#turns.size !== 1) return undefined
    const [turn] = this.#turns
    return turn
  }

  /** Returns how to end it. */
  begin(turn: EventContext): () => void {
    this.#turns.add(turn)
    return () => void this.#turns.delete(turn)
  }
}
