import { type Envelope, readEnvelope } from './envelope.ts'
import type { Garbage, Piece } from './lines.ts'

/** What an agent wrote, read: a message, or what is none. */
type Parsed = { readonly kind: 'message'; readonly envelope: Envelope; readonly bytes: number } | Garbage

/** Reads each piece. Lines in a row that say nothing are one piece: a banner, or the output of a program that is no agent. */
export function readPieces(pieces: readonly Piece[]): Parsed[] {
  const parsed: Parsed[] = []
  let row: { readonly reason: string; readonly lines: string[] } | undefined
  const endRow = () => {
    if (row !== undefined)
      parsed.push({ kind: 'garbage', bytes: Buffer.from(row.lines.join('\n')), reason: row.reason })
    row = undefined
  }
  for (const piece of pieces) {
    const read = piece.kind === 'line' ? readEnvelope(piece.text) : piece
    if (piece.kind === 'line' && read.kind === 'garbage') {
      if (row?.reason !== read.reason) endRow()
      row ??= { reason: read.reason, lines: [] }
      row.lines.push(piece.text)
      continue
    }
    endRow()
    if (piece.kind === 'garbage') parsed.push(piece)
    else if (read.kind !== 'garbage') parsed.push({ kind: 'message', envelope: read, bytes: piece.bytes })
  }
  endRow()
  return parsed
}
