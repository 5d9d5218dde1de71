import { addUncertainty, markRestUncertain, type ParserState } from './parser-state.ts'
import { readWord } from './read-word.ts'
import { readHereDocuments } from './redirections.ts'
import { literal, plainText } from './word.ts'

/** Reads from after `for` to the start of its commands. */
export function readForHeader(state: ParserState): void {
  const { cursor, found } = state
  cursor.skipBlanks()
  if (cursor.peek() === '(') {
    markRestUncertain(state, 'shells differ in what for (( means')
    return
  }
  const name = plainText(readWord(state))
  if (name === undefined || !/^[A-Za-z_]\w*$/.test(name)) {
    markRestUncertain(state, 'a for has no name')
    return
  }
  const assignments = [{ name, value: literal('') }]
  found.commands.push({ assignments, words: [], redirections: [], certain: !found.lost })
  skipLines(state)
  if (!eatKeyword(state, 'in')) return
  do cursor.skipBlanks()
  while (readWord(state).pieces.length > 0)
}

/** Reads from after `case` to the commands of its first pattern. */
export function readCaseHeader(state: ParserState): void {
  state.cursor.skipBlanks()
  readWord(state)
  skipLines(state)
  if (eatKeyword(state, 'in')) readPatterns(state)
  else markRestUncertain(state, 'a case has no in')
}

/** Reads the patterns of a case branch, up to the branch's commands. */
export function readPatterns(state: ParserState): void {
  const { cursor } = state
  skipLines(state)
  if (!cursor.eat('(') && eatKeyword(state, 'esac')) return
  for (;;) {
    cursor.skipBlanks()
    if (readWord(state).pieces.length === 0) break
    cursor.skipBlanks()
    if (cursor.eat(')')) return
    if (!cursor.eat('|')) break
  }
  markRestUncertain(state, 'the patterns of a case do not end')
}

/** Reads from after `function` to the function's body. */
export function readFunctionHeader(state: ParserState): void {
  const { cursor } = state
  addUncertainty(state, 'it defines a function')
  cursor.skipBlanks()
  readWord(state)
  cursor.skipBlanks()
}

function skipLines(state: ParserState): void {
  const { cursor } = state
  for (;;) {
    cursor.skipBlanks()
    if (!cursor.eat('\n')) return
    readHereDocuments(state)
  }
}

function eatKeyword(state: ParserState, expected: string): boolean {
  const { cursor } = state
  const start = cursor.at
  if (cursor.sees(expected.slice(0, 1)) && plainText(readWord(state)) === expected) return true
  cursor.at = start
  return false
}
