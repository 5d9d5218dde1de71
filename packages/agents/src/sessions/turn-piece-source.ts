import {
  type JournalEvent,
  type JournalItem,
  type JournalReader,
  readPages,
  type StreamPiece,
  VitrineError,
} from '@vitrine/protocol'
import type { PullSource } from '@vitrine/protocol/primitives'
import { type PiecePosition, parsePieceCursor, turnPieces } from '@vitrine/views'

export interface TurnPiecesOptions {
  readonly session: string
  readonly turn: string
  /** The cursor of a piece: only later ones. */
  readonly after?: string | undefined
}

/** The pieces of a turn that is on record: past ones, then new ones, until its end. It reads the journal only. */
export class TurnPieceSource implements PullSource<StreamPiece> {
  readonly #journal: JournalReader
  readonly #options: TurnPiecesOptions
  readonly #after: PiecePosition
  readonly #closed = new AbortController()
  #events: AsyncIterator<JournalItem> | undefined
  #added = turnPieces.start
  /** The index of the next piece of those that were added last. */
  #index = 0

  constructor(journal: JournalReader, options: TurnPiecesOptions) {
    const { turn, after } = options
    this.#journal = journal
    this.#options = options
    this.#after = after === undefined ? { seq: 0, index: 0 } : parsePieceCursor(turn, after)
  }

  /** Finds the start of the turn; throws `not_found` if it is not on record. */
  async begin(): Promise<void> {
    if (this.#events !== undefined) return
    const { session, turn } = this.#options
    const start = await findStart(this.#journal, session, turn, this.#closed.signal)
    if (start === undefined)
      throw new VitrineError('not_found', `There is no turn ${turn} in the session ${session}.`)
    this.#events = this.#journal.tail({
      types: turnPieces.types,
      session,
      after: this.#journal.cursor(start),
      signal: this.#closed.signal,
    })
    this.#add(start)
  }

  async next(): Promise<StreamPiece | undefined> {
    await this.begin()
    for (;;) {
      const piece = this.#added.pieces[this.#index]
      if (piece !== undefined) {
        this.#index += 1
        if (this.#isAfter(piece)) return piece
        continue
      }
      if (this.#added.pieces.at(-1)?.type === 'end') return undefined
      const { done, value } = (await this.#events?.next()) ?? { done: true }
      if (done || value === undefined) return undefined
      this.#add(value)
    }
  }

  close(): void {
    this.#closed.abort()
  }

  #add(item: JournalItem): void {
    this.#added = turnPieces.add(this.#options, this.#added.transcript, item)
    this.#index = 0
  }

  /** The index of the piece among those of its event is that of the loop. */
  #isAfter({ at }: StreamPiece): boolean {
    const { seq, index } = this.#after
    return (
      this.#options.after === undefined ||
      at === undefined ||
      at.seq > seq ||
      (at.seq === seq && this.#index - 1 > index)
    )
  }
}

/** The newest event that begins the turn: a prompt that was dropped and sent again has several. */
async function findStart(
  journal: JournalReader,
  session: string,
  turn: string,
  signal: AbortSignal,
): Promise<JournalEvent | undefined> {
  const types = ['turn.started', 'prompt.queued', 'prompt.dropped']
  const pages = readPages(journal, { types, session, text: turn, order: 'desc', limit: 100, signal })
  for await (const { events } of pages)
    for (const item of events) if ('seq' in item && item.turn === turn) return item
  return undefined
}
