import { readBackticks, readDollar } from './expansions.ts'
import { addUncertainty, markRestUncertain, type ParserState } from './parser-state.ts'
import type { Piece } from './word.ts'

const quoted = (text: string): Piece => ({ kind: 'text', text, quoted: true })

/** Reads from after the opening quote. */
export function readSingleQuotes(state: ParserState): Piece {
  const { cursor } = state
  const end = cursor.text.indexOf("'", cursor.at)
  const text = cursor.text.slice(cursor.at, end < 0 ? undefined : end)
  cursor.at = end < 0 ? cursor.text.length : end + 1
  if (end < 0) markRestUncertain(state, 'a single quote is not closed')
  return quoted(text)
}

/** Reads from after the opening quote. */
export function readDoubleQuotes(state: ParserState): Piece[] {
  const pieces = readExpanding(state, { until: '"', escapable: '$`"\\' })
  if (!state.cursor.eat('"')) markRestUncertain(state, 'a double quote is not closed')
  return pieces.length > 0 ? pieces : [quoted('')]
}

/** Reads text in which only expansions and some escapes are special, up to a character or the end. */
export function readExpanding(
  state: ParserState,
  { until, escapable }: { readonly until: string; readonly escapable: string },
): Piece[] {
  const { cursor } = state
  const pieces: Piece[] = []
  let text = ''
  const add = (more: readonly Piece[]) => {
    if (text !== '') pieces.push(quoted(text))
    text = ''
    pieces.push(...more)
  }
  for (;;) {
    const character = cursor.peek()
    if (character === until || character === '') break
    if (character === '$') add(readDollar(state, 'quoted'))
    else if (character === '`') add([readBackticks(state, 'quoted')])
    else if (character === '\\') {
      cursor.takeRaw()
      text += escapable.includes(cursor.raw()) && !cursor.ended ? cursor.takeRaw() : '\\'
    } else text += cursor.takeRaw()
  }
  add([])
  return pieces
}

const escapes = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['a', '\x07'],
  ['b', '\b'],
  ['e', '\x1b'],
  ['E', '\x1b'],
  ['f', '\f'],
  ['v', '\v'],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['?', '?'],
])

const numbered = [
  { start: /^[0-7]{1,3}/, base: 8, skip: 0 },
  { start: /^x[0-9A-Fa-f]{1,2}/, base: 16, skip: 1 },
  { start: /^u[0-9A-Fa-f]{1,4}/, base: 16, skip: 1 },
  { start: /^U[0-9A-Fa-f]{1,8}/, base: 16, skip: 1 },
]

/** Reads from after `$'`. */
export function readAnsiQuotes(state: ParserState): Piece {
  const { cursor } = state
  if (state.dialect !== 'bash') addUncertainty(state, "shells differ in what $'…' means")
  let text = ''
  while (!cursor.ended) {
    const character = cursor.takeRaw()
    if (character === "'") return quoted(text)
    text += character === '\\' ? readEscape(state) : character
  }
  markRestUncertain(state, 'a single quote is not closed')
  return quoted(text)
}

function readEscape(state: ParserState): string {
  const { cursor } = state
  const ahead = cursor.text.slice(cursor.at, cursor.at + 9)
  for (const { start, base, skip } of numbered) {
    const [digits] = start.exec(ahead) ?? []
    if (digits === undefined) continue
    cursor.at += digits.length
    const code = Number.parseInt(digits.slice(skip), base)
    // Above 127, some shells insert a byte and others a character; a NUL ends the text in some shells.
    if (code > 0 && code < 128) return String.fromCharCode(code)
    addUncertainty(state, `shells differ in what \\${digits} means`)
    return `\\${digits}`
  }
  const character = cursor.takeRaw()
  const meaning = escapes.get(character)
  if (meaning !== undefined) return meaning
  addUncertainty(state, `shells differ in what \\${character} means`)
  return `\\${character}`
}
