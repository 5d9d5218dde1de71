import { readCaseHeader, readForHeader, readFunctionHeader } from './headers.ts'
import { addUncertainty, markRestUncertain, type ParserState } from './parser-state.ts'
import { readWord } from './read-word.ts'
import { readRedirection, seesRedirection } from './redirections.ts'
import type { Assignment, Redirection } from './script.ts'
import { displayText, plainText, type Word } from './word.ts'

/** Reserved words between commands: they run nothing themselves, and a command may follow. */
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

const headers = new Map<string, (state: ParserState) => void>([
  ['for', readForHeader],
  ['select', readForHeader],
  ['case', readCaseHeader],
  ['function', readFunctionHeader],
  ['coproc', (state) => addUncertainty(state, 'shells differ in what coproc means')],
])

/** Reads a simple command, or a reserved word with its header. */
export function readCommand(state: ParserState): void {
  const { cursor, found } = state
  const assignments: Assignment[] = []
  const words: Word[] = []
  const redirections: Redirection[] = []
  // In bash, `time` may precede a group or another reserved word, also another `time`.
  let isTimed = false
  const emit = () => {
    if (words.length + assignments.length + redirections.length === 0) return
    found.commands.push({ assignments, words, redirections, certain: !found.lost })
  }
  for (;;) {
    cursor.skipBlanks()
    if (seesRedirection(state)) {
      redirections.push(readRedirection(state))
      continue
    }
    if (cursor.peek() === '(') {
      const names = words.length === 1 && assignments.length + redirections.length === 0
      if (names && eatEmptyParentheses(state)) addUncertainty(state, 'it defines a function')
      else {
        markRestUncertain(state, 'a parenthesis is where none is allowed')
        emit()
      }
      return
    }
    const start = cursor.at
    const word = readWord(state)
    if (word.pieces.length === 0) break
    if (isDescriptor(state, word)) continue
    const bare = words.length + assignments.length + redirections.length === 0
    const reserved = bare || isTimed ? plainText(word) : undefined
    if (reserved !== undefined && (connectives.has(reserved) || headers.has(reserved))) {
      if (!bare) {
        cursor.at = start
        break
      }
      headers.get(reserved)?.(state)
      return
    }
    const assignment = words.length === 0 ? readAssignment(state, word) : undefined
    if (assignment) assignments.push(assignment)
    else {
      const written = plainText(word)
      isTimed =
        written === 'time' ? words.length === 0 || isTimed : isTimed && written?.startsWith('-') === true
      words.push(word)
    }
  }
  emit()
}

function eatEmptyParentheses({ cursor }: ParserState): boolean {
  const start = cursor.at
  cursor.take()
  cursor.skipBlanks()
  if (cursor.eat(')')) return true
  cursor.at = start
  return false
}

/** Whether a word is the descriptor number in `2>file`. */
function isDescriptor(state: ParserState, word: Word): boolean {
  const text = plainText(word)
  if (text === undefined || !seesRedirection(state) || state.cursor.peek() === '&') return false
  if (/^[0-9]$/.test(text)) return true
  if (/^([0-9]+|\{\w+\})$/.test(text))
    addUncertainty(state, `shells differ in what ${text} before < or > means`)
  return false
}

function readAssignment(state: ParserState, word: Word): Assignment | undefined {
  const [first, ...rest] = word.pieces
  if (first?.kind !== 'text' || first.quoted) return undefined
  const [match, name, append] = /^([A-Za-z_]\w*)(\+?)=/.exec(first.text) ?? []
  if (match !== undefined && name !== undefined) {
    if (append) addUncertainty(state, 'shells differ in what += means')
    return { name, value: { pieces: [{ ...first, text: first.text.slice(match.length) }, ...rest] } }
  }
  if (/^[A-Za-z_]\w*\[.*\]\+?=/s.test(unquotedText(word)))
    addUncertainty(state, 'it sets an element of an array')
  return undefined
}

/** The word without its quoted pieces, in which brackets and operators are not special. */
function unquotedText({ pieces }: Word): string {
  return displayText({ pieces: pieces.filter((piece) => piece.kind === 'hole' || !piece.quoted) })
}
