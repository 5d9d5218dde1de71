import { readCaseHeader, readForHeader, readFunctionHeader } from './headers.ts'
import { readWord } from './read-word.ts'
import { doubt, lose, type Reading } from './reading.ts'
import { readRedirection, seesRedirection } from './redirections.ts'
import type { Assignment, Redirection } from './script.ts'
import { plainText, shownText, type Word } from './word.ts'

/** Words between commands: they run nothing themselves, and a command follows. */
const connectives = new Set([
  '!',
  '{',
  '}',
  'if',
  'then',
  'elif',
  'else',
  'fi',
  'while',
  'until',
  'do',
  'done',
  'esac',
])

const headers = new Map<string, (reading: Reading) => void>([
  ['for', readForHeader],
  ['select', readForHeader],
  ['case', readCaseHeader],
  ['function', readFunctionHeader],
  ['coproc', (reading) => doubt(reading, 'shells differ in what coproc means')],
])

/** One simple command, or one reserved word with what belongs to it. */
export function readCommand(reading: Reading): void {
  const { cursor, found } = reading
  const assignments: Assignment[] = []
  const words: Word[] = []
  const redirections: Redirection[] = []
  const emit = () => {
    if (words.length + assignments.length + redirections.length === 0) return
    found.commands.push({ assignments, words, redirections, sure: !found.lost })
  }
  for (;;) {
    cursor.skipBlanks()
    if (seesRedirection(reading)) {
      redirections.push(readRedirection(reading))
      continue
    }
    if (cursor.peek() === '(') {
      const names = words.length === 1 && assignments.length + redirections.length === 0
      if (names && eatEmptyParentheses(reading)) doubt(reading, 'it defines a function')
      else {
        lose(reading, 'a parenthesis stands where none can')
        emit()
      }
      return
    }
    const start = cursor.at
    const word = readWord(reading)
    if (word.pieces.length === 0) break
    if (isDescriptor(reading, word)) continue
    const bare = words.length + assignments.length + redirections.length === 0
    const reserved = bare || isTimed(words) ? plainText(word) : undefined
    if (reserved !== undefined && (connectives.has(reserved) || headers.has(reserved))) {
      if (!bare) {
        cursor.at = start
        break
      }
      headers.get(reserved)?.(reading)
      return
    }
    const assignment = words.length === 0 ? readAssignment(reading, word) : undefined
    if (assignment) assignments.push(assignment)
    else words.push(word)
  }
  emit()
}

/** In bash, `time` may stand before a group or another reserved word. */
function isTimed(words: readonly Word[]): boolean {
  const first = words[0] && plainText(words[0])
  return first === 'time' && words.every((word, index) => index === 0 || plainText(word)?.startsWith('-'))
}

function eatEmptyParentheses({ cursor }: Reading): boolean {
  const start = cursor.at
  cursor.take()
  cursor.skipBlanks()
  if (cursor.eat(')')) return true
  cursor.at = start
  return false
}

/** The number in `2>file`. */
function isDescriptor(reading: Reading, word: Word): boolean {
  const text = plainText(word)
  if (text === undefined || !seesRedirection(reading) || reading.cursor.peek() === '&') return false
  if (/^[0-9]$/.test(text)) return true
  if (/^([0-9]+|\{\w+\})$/.test(text)) doubt(reading, `shells differ in what ${text} before < or > means`)
  return false
}

function readAssignment(reading: Reading, word: Word): Assignment | undefined {
  const [first, ...rest] = word.pieces
  if (first?.kind !== 'text' || first.quoted) return undefined
  const [match, name, append] = /^([A-Za-z_]\w*)(\+?)=/.exec(first.text) ?? []
  if (match !== undefined && name !== undefined) {
    if (append) doubt(reading, 'shells differ in what += means')
    return { name, value: { pieces: [{ ...first, text: first.text.slice(match.length) }, ...rest] } }
  }
  if (/^[A-Za-z_]\w*\[.*\]\+?=/s.test(unquotedText(word))) doubt(reading, 'it sets an element of a list')
  return undefined
}

/** The word with nothing of what is quoted, where brackets and signs mean nothing. */
function unquotedText({ pieces }: Word): string {
  return shownText({ pieces: pieces.filter((piece) => piece.kind === 'hole' || !piece.quoted) })
}
