import { readArithmetic } from './arithmetic.ts'
import { Cursor } from './cursor.ts'
import { readParameter } from './parameters.ts'
import { addUncertainty, markRestUncertain, type ParserState, readNested } from './parser-state.ts'
import { readAnsiQuotes, readDoubleQuotes } from './quotes.ts'
import { readCommands } from './read-commands.ts'
import type { HolePiece, Piece } from './word.ts'

export type Quoting = 'quoted' | 'unquoted'

/** Builds a piece with an unknown value. Without quotes, the value is split into words. */
export function hole(cause: HolePiece['cause'], written: string, quoting: Quoting): HolePiece {
  return { kind: 'hole', cause, written, yields: quoting === 'quoted' ? 'one' : 'fields' }
}

/** Reads an expansion from its `$`. */
export function readDollar(state: ParserState, quoting: Quoting): Piece[] {
  const { cursor } = state
  const start = cursor.at
  cursor.take()
  if (cursor.sees('((')) return [readArithmetic(state, start, quoting)]
  if (cursor.eat('(')) return [readSubstitution(state, start, quoting)]
  if (quoting === 'unquoted' && cursor.eat("'")) return [readAnsiQuotes(state)]
  if (quoting === 'unquoted' && cursor.eat('"')) {
    addUncertainty(state, 'shells differ in what $"…" means')
    return readDoubleQuotes(state)
  }
  if (cursor.peek() === '[') addUncertainty(state, 'shells differ in what $[…] means')
  const parameter = readParameter(state, start, quoting)
  return [parameter ?? { kind: 'text', text: '$', quoted: quoting === 'quoted' }]
}

/** Reads a command substitution after its `$(`. */
export function readSubstitution(state: ParserState, start: number, quoting: Quoting): HolePiece {
  addUncertainty(state, 'it uses the output of a command as part of another')
  readNested(state, (inner) => readCommands(inner, { until: ')' }))
  return hole('substitution', state.cursor.since(start), quoting)
}

/** Reads from a backtick to the next one without a backslash, regardless of quotes in between. */
export function readBackticks(state: ParserState, quoting: Quoting): HolePiece {
  const { cursor } = state
  const start = cursor.at
  addUncertainty(state, 'it uses the output of a command as part of another')
  cursor.take()
  let text = ''
  while (!cursor.ended && cursor.raw() !== '`') {
    const character = cursor.takeRaw()
    if (character === '\\' && '$`\\'.includes(cursor.raw()) && !cursor.ended) text += cursor.takeRaw()
    else if (character === '\\' && cursor.raw() === '"' && quoting === 'quoted') text += cursor.takeRaw()
    else text += character
  }
  if (cursor.ended) markRestUncertain(state, 'a backtick is not closed')
  cursor.takeRaw()
  readNested(state, (inner) => readCommands(inner, { until: 'end' }), new Cursor(text))
  return hole('substitution', cursor.since(start), quoting)
}
