/** A part of a word whose value is known before the command runs. */
export interface TextPiece {
  readonly kind: 'text'
  readonly text: string
  readonly quoted: boolean
}

/** A part of a word whose value is known only at run time. */
export interface HolePiece {
  readonly kind: 'hole'
  readonly cause: 'parameter' | 'substitution' | 'arithmetic' | 'glob' | 'brace' | 'tilde'
  /** The part as written. */
  readonly written: string
  /**
   * `one`: any text within this word. `several`: several words, each with the text before this piece as its prefix.
   * `fields`: no word, one or several, split anywhere.
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

/** The exact value; undefined if it is known only at run time. */
export function literalValue(word: Word): string | undefined {
  let text = ''
  for (const piece of word.pieces) {
    if (piece.kind === 'hole') return undefined
    text += piece.text
  }
  return text
}

/** The value with its unknown parts as written. */
export function displayText(word: Word): string {
  return word.pieces.map((piece) => (piece.kind === 'text' ? piece.text : piece.written)).join('')
}

/** The value of a word without quotes, as reserved words must be. */
export function plainText(word: Word): string | undefined {
  return word.pieces.some((piece) => piece.kind === 'text' && piece.quoted) ? undefined : literalValue(word)
}

/** The known texts before the first unknown part and after the last one. */
export function knownEnds({ pieces }: Word): { readonly before: string; readonly after: string } {
  const first = pieces.findIndex((piece) => piece.kind === 'hole')
  const last = pieces.findLastIndex((piece) => piece.kind === 'hole')
  if (first < 0) throw new RangeError('A word without holes is known as a whole.')
  return {
    before: displayText({ pieces: pieces.slice(0, first) }),
    after: displayText({ pieces: pieces.slice(last + 1) }),
  }
}

/** Whether the word may become a flag, no word or several words; `--name=` followed by anything is certain. */
export function mayBecomeFlag(word: Word): boolean {
  const holes = word.pieces.filter((piece) => piece.kind === 'hole')
  const [first] = holes
  if (!first) return false
  if (holes.some((hole) => hole.yields === 'fields')) return true
  const { before } = knownEnds(word)
  if (before === '') return first.cause !== 'tilde'
  return before.startsWith('-') && !/^--[A-Za-z][\w-]*=/.test(before)
}
