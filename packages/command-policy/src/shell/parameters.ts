import { hole, type Quoting, readBackticks, readDollar } from './expansions.ts'
import { addUncertainty, markRestUncertain, type ParserState, readNested } from './parser-state.ts'
import { readDoubleQuotes, readSingleQuotes } from './quotes.ts'
import type { HolePiece } from './word.ts'

const nameStart = /[A-Za-z_]/
const namePart = /\w/
const special = /[@*#?$!0-9-]/

/** Reads a parameter after its `$`; undefined if no parameter follows. */
export function readParameter(state: ParserState, start: number, quoting: Quoting): HolePiece | undefined {
  const { cursor } = state
  const written = () => cursor.since(start)
  if (cursor.eat('{')) {
    const several = readBraced(state, quoting) === 'several'
    return hole('parameter', written(), several ? 'unquoted' : quoting)
  }
  const first = cursor.peek()
  if (nameStart.test(first)) {
    while (namePart.test(cursor.peek())) cursor.take()
    return hole('parameter', written(), quoting)
  }
  if (!special.test(first)) return undefined
  cursor.take()
  return hole('parameter', written(), first === '@' ? 'unquoted' : quoting)
}

const operators = [':-', '-', ':+', '+', ':?', '?', '##', '#', '%%', '%']

/** Reads from after `${`. Forms that set variables, evaluate arithmetic, or differ between shells are uncertain. */
function readBraced(state: ParserState, quoting: Quoting): 'one' | 'several' {
  const { cursor } = state
  const start = cursor.at
  if (cursor.sees('#') && !cursor.sees('#}')) cursor.take()
  const name = readName(state)
  if (name !== '' && cursor.eat('}')) return name === '@' ? 'several' : 'one'
  if (name === '' || !operators.some((operator) => cursor.eat(operator))) {
    addUncertainty(state, 'it uses a parameter expansion that may have side effects')
  }
  readNested(state, (inner) => passToBrace(inner, quoting))
  return cursor.since(start).includes('@') ? 'several' : 'one'
}

function readName({ cursor }: ParserState): string {
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

function passToBrace(state: ParserState, quoting: Quoting): void {
  const { cursor } = state
  while (!cursor.ended) {
    const character = cursor.peek()
    if (quoting === 'quoted' && (character === '"' || character === "'")) {
      markRestUncertain(state, 'shells differ in how they read quotes within a parameter in quotes')
    }
    if (character === '$') readDollar(state, quoting)
    else if (character === '`') readBackticks(state, quoting)
    else {
      cursor.takeRaw()
      if (character === '}') return
      if (character === '\\') cursor.takeRaw()
      else if (character === "'" && quoting === 'unquoted') readSingleQuotes(state)
      else if (character === '"' && quoting === 'unquoted') readDoubleQuotes(state)
    }
  }
  markRestUncertain(state, 'a ${ is not closed')
}
