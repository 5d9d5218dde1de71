import { hole, type Quoting, readBackticks, readDollar, readSubstitution } from './expansions.ts'
import { deeper, doubt, lose, type Reading } from './reading.ts'
import type { HolePiece } from './word.ts'

/** At the `((` of `$((`. It is a command after all if its parentheses do not close as `))`. */
export function readArithmetic(reading: Reading, start: number, quoting: Quoting): HolePiece {
  const { cursor } = reading
  // An index in a variable's value may hold a command that bash runs.
  doubt(reading, 'it calculates, which may run commands')
  if (!closesTwice(cursor.text, cursor.text.indexOf('((', cursor.at) + 2)) {
    cursor.eat('(')
    return readSubstitution(reading, start, quoting)
  }
  cursor.eat('((')
  deeper(reading, passArithmetic)
  return hole('arithmetic', cursor.since(start), quoting)
}

/** A plain look ahead: to try one way of reading and then the other would take twice as long per level. */
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

function passArithmetic(reading: Reading): void {
  const { cursor } = reading
  let open = 0
  while (cursor.peek() !== '') {
    const character = cursor.raw()
    if (character === '$') readDollar(reading, 'quoted')
    else if (character === '`') readBackticks(reading, 'quoted')
    else {
      cursor.takeRaw()
      if (character === '\\') cursor.takeRaw()
      else if (character === '(') open += 1
      else if (character === ')' && open > 0) open -= 1
      else if (character === ')' && cursor.eat(')')) return
    }
  }
  lose(reading, 'a $(( is not closed')
}
