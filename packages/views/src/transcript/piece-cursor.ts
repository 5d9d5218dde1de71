import { VitrineError } from '@vitrine/protocol'
import { shown } from '@vitrine/protocol/primitives'

/** The position of a piece: its event, and its index among the pieces of that event. */
export interface PiecePosition {
  readonly seq: number
  readonly index: number
}

/** The cursor names its turn, so that it is refused for another one. */
export function pieceCursor(turn: string, { seq, index }: PiecePosition): string {
  return `${turn}/${seq}/${index}`
}

export function parsePieceCursor(turn: string, cursor: unknown): PiecePosition {
  const [, of, seq, index] = /^([^/]+)\/(\d{1,15})\/(\d{1,6})$/.exec(String(cursor)) ?? []
  if (of === turn) return { seq: Number(seq), index: Number(index) }
  throw new VitrineError(
    'cursor_invalid',
    `after: expected the cursor of a piece of the turn ${turn}, got ${shown(cursor)}.`,
  )
}
