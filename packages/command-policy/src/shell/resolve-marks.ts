import type { Piece, Word } from './word.ts'

/** A character whose meaning depends on the rest of its word. */
interface Mark {
  readonly kind: 'mark'
  readonly mark: string
}

export type UnresolvedPiece = Piece | Mark

/** Decides which marks are patterns and which are plain characters, and joins adjacent texts. */
export function resolveMarks(unresolved: readonly UnresolvedPiece[]): Word {
  const last = (character: string) =>
    unresolved.findLastIndex((piece) => piece.kind === 'text' && !piece.quoted && piece.text === character)
  const bracket = last(']')
  const brace = Math.min(last('}'), Math.max(last(','), last('.')))
  const pieces: Piece[] = []
  unresolved.forEach((piece, index) => {
    if (piece.kind !== 'mark') add(pieces, piece)
    else add(pieces, resolveMark(piece.mark, { bracketed: index < bracket, braced: index < brace }))
  })
  return { pieces }
}

function resolveMark(
  mark: string,
  { bracketed, braced }: { readonly bracketed: boolean; readonly braced: boolean },
): Piece {
  if (mark === '~') return { kind: 'hole', cause: 'tilde', written: mark, yields: 'one' }
  if (mark === '*' || mark === '?' || (mark === '[' && bracketed)) {
    return { kind: 'hole', cause: 'glob', written: mark, yields: 'several' }
  }
  if (mark === '{' && braced) return { kind: 'hole', cause: 'brace', written: mark, yields: 'fields' }
  return { kind: 'text', text: mark, quoted: false }
}

function add(pieces: Piece[], piece: Piece): void {
  const last = pieces.at(-1)
  if (piece.kind === 'text' && last?.kind === 'text' && last.quoted === piece.quoted) {
    pieces[pieces.length - 1] = { ...last, text: last.text + piece.text }
  } else pieces.push(piece)
}
