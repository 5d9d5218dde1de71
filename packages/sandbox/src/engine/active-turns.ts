import type { EventContext } from '@vitrine/protocol'

/**
 * The running turns of a sandbox. A file change is attributed to a turn only while no other turn runs, and to the manifest
 * while that is applied, before any turn.
 */
export class ActiveTurns {
  isPreparing = false
  readonly #turns = new Set<EventContext>()

  get only(): EventContext | undefined {
    if (this.#turns.size !== 1) return undefined
    const [turn] = this.#turns
    return turn
  }

  /** Returns the function that ends the turn. */
  begin(turn: EventContext): () => void {
    this.#turns.add(turn)
    return () => void this.#turns.delete(turn)
  }
}
