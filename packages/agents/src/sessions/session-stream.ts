import type { StreamPiece } from '@vitrine/protocol'
import type { PullSource } from '@vitrine/protocol/primitives'
import type { JoinedTurn } from './prompted-turn.ts'
import type { TurnPieceSource } from './turn-piece-source.ts'

/** The pieces of a turn from its prompt on. Closing it does not cancel the turn. */
export class SessionStream implements PullSource<StreamPiece> {
  readonly #prompted: Promise<JoinedTurn>
  readonly #pieces: TurnPieceSource
  #isOver = false
  #isClosed = false

  constructor(prompted: Promise<JoinedTurn>, pieces: TurnPieceSource) {
    this.#prompted = prompted
    this.#pieces = pieces
    // The first `next` throws the error.
    prompted.catch(() => undefined)
  }

  async next(): Promise<StreamPiece | undefined> {
    if (this.#isOver) return undefined
    const { turn, result, accepted, unrecorded } = await this.#prompted
    if (unrecorded) {
      this.#isOver = true
      return { type: 'end', turn, outcome: (await result).outcome, complete: true }
    }
    await accepted
    const piece = await this.#pieces.next()
    if (piece !== undefined || this.#isClosed) return piece
    this.#isOver = true
    // Throws the error of a turn that failed.
    await result
    return undefined
  }

  close(): void {
    this.#isClosed = true
    this.#pieces.close()
  }
}
