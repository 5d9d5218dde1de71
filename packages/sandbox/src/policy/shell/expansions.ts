import { readArithmetic } from './arithmetic.ts'
import { Cursor } from './cursor.ts'
import { readParameter } from './parameters.ts'
import { readAnsiQuotes, readDoubleQuotes } from './quotes.ts'
import { readCommands } from './read-commands.ts'
import { deeper, doubt, lose, type Reading } from './reading.ts'
import type { HolePiece, Piece } from './word.ts'

export type Quoting = 'quoted' | 'unquoted'

/** Without quotes, what comes out is cut into words. */
export function hole(cause: HolePiece['cause'], shown: string, quoting: Quoting): HolePiece {
  return { kind: 'hole', cause, shown, yields: quoting === 'quoted' ? 'one' : 'fields' }
}

/** At a `$`. */
export function readDollar(reading: Reading, quoting: Quoting): Piece[] {
  const { cursor } = reading
  const start = cursor.at
  cursor.take()
  if (cursor.sees('((')) return [readArithmetic(reading, start, quoting)]
  if (cursor.eat('(')) return [readSubstitution(reading, start, quoting)]
  if (quoting === 'unquoted' && cursor.eat("'")) return [readAnsiQuotes(reading)]
  if (quoting === 'unquoted' && cursor.eat('"')) {
    doubt(reading, 'shells differ in what $"…" means')
    return readDoubleQuotes(reading)
  }
  if (cursor.peek() === '[') doubt(reading, 'shells differ in what $[…] means')
  const parameter = readParameter(reading, start, quoting)
  return [parameter ?? { kind: 'text', text: '$', quoted: quoting === 'quoted' }]
}

/** Behind `$(`. */
export function readSubstitution(reading: Reading, start: number, quoting: Quoting): HolePiece {
  doubt(reading, 'it uses the output of a command as part of another')
  deeper(reading, (inner) => readCommands(inner, { until: ')' }))
  return hole('substitution', reading.cursor.since(start), quoting)
}

/** At a backtick. It ends at the next one without a backslash, whatever the quotes within. */
export function readBackticks(reading: Reading, quoting: Quoting): HolePiece {
  const { cursor } = reading
  const start = cursor.at
  doubt(reading, 'it uses the output of a command as part of another')
  cursor.take()
  let text = ''
  while (!cursor.ended && cursor.raw() !== '`') {
    const character = cursor.takeRaw()
    if (character === '\\' && '$`\\'.includes(cursor.raw()) && !cursor.ended) text += cursor.takeRaw()
    else if (character === '\\' && cursor.raw() === '"' && quoting === 'quoted') text += cursor.takeRaw()
    else text += character
  }
  if (cursor.ended) lose(reading, 'a backtick is not closed')
  cursor.takeRaw()
  deeper(reading, (inner) => readCommands(inner, { until: 'end' }), new Cursor(text))
  return hole('substitution', cursor.since(start), quoting)
}
