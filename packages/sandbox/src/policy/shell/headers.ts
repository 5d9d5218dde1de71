import { readWord } from './read-word.ts'
import { doubt, lose, type Reading } from './reading.ts'
import { readHereDocuments } from './redirections.ts'
import { literal, plainText } from './word.ts'

/** Behind `for`, up to where its commands begin. */
export function readForHeader(reading: Reading): void {
  const { cursor, found } = reading
  cursor.skipBlanks()
  if (cursor.peek() === '(') {
    lose(reading, 'shells differ in what for (( means')
    return
  }
  const name = plainText(readWord(reading))
  if (name === undefined || !/^[A-Za-z_]\w*$/.test(name)) {
    lose(reading, 'a for has no name')
    return
  }
  const assignments = [{ name, value: literal('') }]
  found.commands.push({ assignments, words: [], redirections: [], sure: !found.lost })
  skipLines(reading)
  if (!eatWord(reading, 'in')) return
  do cursor.skipBlanks()
  while (readWord(reading).pieces.length > 0)
}

/** Behind `case`, up to where the commands of its first pattern begin. */
export function readCaseHeader(reading: Reading): void {
  reading.cursor.skipBlanks()
  readWord(reading)
  skipLines(reading)
  if (eatWord(reading, 'in')) readPatterns(reading)
  else lose(reading, 'a case has no in')
}

/** Where the patterns of a case stand, up to where the commands for them begin. */
export function readPatterns(reading: Reading): void {
  const { cursor } = reading
  skipLines(reading)
  if (!cursor.eat('(') && eatWord(reading, 'esac')) return
  for (;;) {
    cursor.skipBlanks()
    if (readWord(reading).pieces.length === 0) break
    cursor.skipBlanks()
    if (cursor.eat(')')) return
    if (!cursor.eat('|')) break
  }
  lose(reading, 'the patterns of a case do not end')
}

/** Behind `function`. */
export function readFunctionHeader(reading: Reading): void {
  const { cursor } = reading
  doubt(reading, 'it defines a function')
  cursor.skipBlanks()
  readWord(reading)
  cursor.skipBlanks()
}

function skipLines(reading: Reading): void {
  const { cursor } = reading
  for (;;) {
    cursor.skipBlanks()
    if (!cursor.eat('\n')) return
    readHereDocuments(reading)
  }
}

function eatWord(reading: Reading, expected: string): boolean {
  const { cursor } = reading
  const start = cursor.at
  if (cursor.sees(expected.slice(0, 1)) && plainText(readWord(reading)) === expected) return true
  cursor.at = start
  return false
}
