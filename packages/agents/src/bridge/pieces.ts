import type { Garbage, LinePiece } from './lines.ts'
import { type RpcEnvelope, readRpcEnvelope } from './rpc-envelope.ts'

/** A parsed piece of the agent's output: a message, or bytes that are none. */
type Parsed = { readonly kind: 'message'; readonly envelope: RpcEnvelope; readonly bytes: number } | Garbage

/** Parses each piece. Consecutive lines that are not messages become one piece: a banner, or the output of another program. */
export function readPieces(pieces: readonly LinePiece[]): Parsed[] {
  const parsed: Parsed[] = []
  let row: { readonly reason: string; readonly lines: string[] } | undefined
  const endRow = () => {
    if (row !== undefined)
      parsed.push({ kind: 'garbage', bytes: Buffer.from(row.lines.join('\n')), reason: row.reason })
    row = undefined
  }
  for (const piece of pieces) {
    const read = piece.kind === 'line' ? readRpcEnvelope(piece.text) : piece
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
