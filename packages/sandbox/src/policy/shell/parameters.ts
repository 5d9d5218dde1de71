import { hole, type Quoting, readBackticks, readDollar } from './expansions.ts'
import { readDoubleQuotes, readSingleQuotes } from './quotes.ts'
import { deeper, doubt, lose, type Reading } from './reading.ts'
import type { HolePiece } from './word.ts'

const nameStart = /[A-Za-z_]/
const namePart = /\w/
const special = /[@*#?$!0-9-]/

/** Behind a `$`; undefined if no parameter follows. */
export function readParameter(reading: Reading, start: number, quoting: Quoting): HolePiece | undefined {
  const { cursor } = reading
  const shown = () => cursor.since(start)
  if (cursor.eat('{')) {
    const several = readBraced(reading, quoting) === 'several'
    return hole('parameter', shown(), several ? 'unquoted' : quoting)
  }
  const first = cursor.peek()
  if (nameStart.test(first)) {
    while (namePart.test(cursor.peek())) cursor.take()
    return hole('parameter', shown(), quoting)
  }
  if (!special.test(first)) return undefined
  cursor.take()
  return hole('parameter', shown(), first === '@' ? 'unquoted' : quoting)
}

const operators = [':-', '-', ':+', '+', ':?', '?', '##', '#', '%%', '%']

/** Behind `${`. Forms that set variables, calculate, or mean different things are doubted. */
function readBraced(reading: Reading, quoting: Quoting): 'one' | 'several' {
  const { cursor } = reading
  const start = cursor.at
  if (cursor.sees('#') && !cursor.sees('#}')) cursor.take()
  const name = readName(reading)
  if (name !== '' && cursor.eat('}')) return name === '@' ? 'several' : 'one'
  if (name === '' || !operators.some((operator) => cursor.eat(operator))) {
    doubt(reading, 'it uses a parameter in a form that can do more than give its value')
  }
  deeper(reading, (inner) => passToBrace(inner, quoting))
  return cursor.since(start).includes('@') ? 'several' : 'one'
}

function readName({ cursor }: Reading): string {
  let name = ''
  if (special.test(cursor.peek())) {
    name = cursor.take()
    if (/[0-9]/.test(name)) while (/[0-9]/.test(cursor.peek())) name += cursor.take()
    return name
  }
  if (!nameStart.test(cursor.peek())) return ''
  while (namePart.test(cursor.peek())) name += cursor.take()
  return name
}

function passToBrace(reading: Reading, quoting: Quoting): void {
  const { cursor } = reading
  while (!cursor.ended) {
    const character = cursor.peek()
    if (quoting === 'quoted' && (character === '"' || character === "'")) {
      lose(reading, 'shells differ in how they read quotes within a parameter in quotes')
    }
    if (character === '$') readDollar(reading, quoting)
    else if (character === '`') readBackticks(reading, quoting)
    else {
      cursor.takeRaw()
      if (character === '}') return
      if (character === '\\') cursor.takeRaw()
      else if (character === "'" && quoting === 'unquoted') readSingleQuotes(reading)
      else if (character === '"' && quoting === 'unquoted') readDoubleQuotes(reading)
    }
  }
  lose(reading, 'a ${ is not closed')
}
