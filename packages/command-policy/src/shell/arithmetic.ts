import { hole, type Quoting, readBackticks, readDollar, readSubstitution } from './expansions.ts'
import { addUncertainty, markRestUncertain, type ParserState, readNested } from './parser-state.ts'
import type { HolePiece } from './word.ts'

/** Reads from the `((` of `$((`. It is a command substitution if its parentheses do not close as `))`. */
export function readArithmetic(state: ParserState, start: number, quoting: Quoting): HolePiece {
  const { cursor } = state
  // An array index in a variable's value may contain a command that bash runs.
  addUncertainty(state, 'it evaluates arithmetic, which may run commands')
  if (!closesTwice(cursor.text, cursor.text.indexOf('((', cursor.at) + 2)) {
    cursor.eat('(')
    return readSubstitution(state, start, quoting)
  }
  cursor.eat('((')
  readNested(state, passArithmetic)
  return hole('arithmetic', cursor.since(start), quoting)
}

/** Looks ahead without parsing: trying both ways of parsing would double the time at each nesting level. */
function closesTwice(text: string, from: number): boolean {
  let open = 0
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '(') open += 1
    else if (text[at] === ')' && open === 0) return text[at + 1] === ')'
    else if (text[at] === ')') open -= 1
  }
  return false
}

function passArithmetic(state: ParserState): void {
  const { cursor } = state
  let open = 0
  while (cursor.peek() !== '') {
    const character = cursor.raw()
    if (character === '$') readDollar(state, 'quoted')
    else if (character === '`') readBackticks(state, 'quoted')
    else {
      cursor.takeRaw()
      if (character === '\\') cursor.takeRaw()
      else if (character === '(') open += 1
      else if (character === ')' && open > 0) open -= 1
      else if (character === ')' && cursor.eat(')')) return
    }
  }
  markRestUncertain(state, 'a $(( is not closed')
}
