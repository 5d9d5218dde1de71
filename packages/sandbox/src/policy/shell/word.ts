/** A part of a word that is known before the command runs. */
export interface TextPiece {
  readonly kind: 'text'
  readonly text: string
  readonly quoted: boolean
}

/** A part of a word that is known only at run time. */
export interface HolePiece {
  readonly kind: 'hole'
  readonly cause: 'parameter' | 'substitution' | 'arithmetic' | 'glob' | 'brace' | 'tilde'
  /** As it was written. */
  readonly shown: string
  /**
   * `one`: any text within this word. `several`: more words, each with what stands before it.
   * `fields`: none or several words, cut anywhere.
   */
  readonly yields: 'one' | 'several' | 'fields'
}

export type Piece = TextPiece | HolePiece

export interface Word {
  readonly pieces: readonly Piece[]
}

export function literal(text: string): Word {
  return { pieces: [{ kind: 'text', text, quoted: true }] }
}

/** The exact value, or undefined where only running the command would tell. */
export function knownText(word: Word): string | undefined {
  let text = ''
  for (const piece of word.pieces) {
    if (piece.kind === 'hole') return undefined
    text += piece.text
  }
  return text
}

/** The value with its holes as they were written. */
export function shownText(word: Word): string {
  return word.pieces.map((piece) => (piece.kind === 'text' ? piece.text : piece.shown)).join('')
}

/** A word without any quoting, as reserved words must be. */
export function plainText(word: Word): string | undefined {
  return word.pieces.some((piece) => piece.kind === 'text' && piece.quoted) ? undefined : knownText(word)
}

/** The known text before the first hole and after the last one. */
export function knownEnds({ pieces }: Word): { readonly before: string; readonly after: string } {
  const first = pieces.findIndex((piece) => piece.kind === 'hole')
  const last = pieces.findLastIndex((piece) => piece.kind === 'hole')
  if (first < 0) throw new RangeError('A word without holes is known as a whole.')
  return {
    before: shownText({ pieces: pieces.slice(0, first) }),
    after: shownText({ pieces: pieces.slice(last + 1) }),
  }
}

/** Whether the word may turn out to be a flag, none or several words; `--name=` followed by anything is settled. */
export function mayBecomeFlag(word: Word): boolean {
  const holes = word.pieces.filter((piece) => piece.kind === 'hole')
  const [first] = holes
  if (!first) return false
  if (holes.some((hole) => hole.yields === 'fields')) return true
  const { before } = knownEnds(word)
  if (before === '') return first.cause !== 'tilde'
  return before.startsWith('-') && !/^--[A-Za-z][\w-]*=/.test(before)
}
