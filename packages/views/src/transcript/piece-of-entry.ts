import type { PieceOrigin, StreamPiece } from '@vitrine/protocol'
import type { Content } from './content.ts'
import type { TranscriptEntry, TranscriptToolCall } from './transcript.ts'

type WithoutOrigin<Piece> = Piece extends StreamPiece ? Omit<Piece, keyof PieceOrigin> : never

/** A piece before it is placed in its stream. */
export type NewPiece = WithoutOrigin<StreamPiece>

/** The piece of an entry that was added or changed: none for the prompt, and none if nothing in it changed. */
export function pieceOfEntry(
  entry: TranscriptEntry,
  before: TranscriptEntry | undefined,
  added: Content | undefined,
): NewPiece[] {
  switch (entry.kind) {
    case 'message':
      return entry.role === 'user' ? [] : messagePiece('text', entry.id, added)
    case 'thought':
      return messagePiece('thought', entry.id, added)
    case 'toolCall': {
      const piece = toolCallPiece(entry)
      const isSame = before?.kind === 'toolCall' && isEqual(toolCallPiece(before), piece)
      return isSame ? [] : [piece]
    }
    case 'permission': {
      const { kind, resolvedAt: _resolvedAt, ...fields } = withoutPlace(entry)
      return [{ type: kind, ...fields }]
    }
    case 'question': {
      const { kind, resolvedAt: _resolvedAt, ...fields } = withoutPlace(entry)
      return [{ type: kind, ...fields }]
    }
  }
}

function messagePiece(type: 'text' | 'thought', id: string, added: Content | undefined): NewPiece[] {
  if (added === undefined) return []
  const { text, attachments } = added
  return [{ type, id, text, ...(attachments.length > 0 && { attachments }) }]
}

function toolCallPiece(call: TranscriptToolCall): NewPiece {
  const { kind, endedAt: _endedAt, ...fields } = withoutPlace(call)
  return { type: kind, ...fields }
}

/** The fields of an entry that do not say where in the transcript it is. */
function withoutPlace<Entry extends TranscriptEntry>(entry: Entry) {
  const { turn: _turn, beganAt: _beganAt, changedAt: _changedAt, chars: _chars, ...fields } = entry
  return fields
}

function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
