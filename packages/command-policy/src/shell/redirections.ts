import { Cursor } from './cursor.ts'
import { addUncertainty, markRestUncertain, type ParserState, readNested } from './parser-state.ts'
import { readExpanding } from './quotes.ts'
import { readWord } from './read-word.ts'
import type { Redirection } from './script.ts'
import { literalValue, plainText } from './word.ts'

/** A longer operator precedes its own prefixes. */
const operators = ['&>>', '&>', '<<<', '<<-', '<<', '<&', '<>', '<', '>>', '>&', '>|', '>']

export function seesRedirection({ cursor }: ParserState): boolean {
  const character = cursor.peek()
  if (character === '&') return cursor.sees('&>')
  return (character === '<' || character === '>') && !cursor.sees(`${character}(`)
}

/** Reads a redirection from its operator. */
export function readRedirection(state: ParserState): Redirection {
  const { cursor } = state
  const operator = operators.find((candidate) => cursor.eat(candidate)) ?? ''
  if (operator.startsWith('&') && state.dialect !== 'bash') {
    addUncertainty(state, 'shells differ in what &> means')
  }
  cursor.skipBlanks()
  const redirection: Redirection = { operator, target: readWord(state) }
  if (redirection.target.pieces.length === 0) markRestUncertain(state, `nothing follows ${operator}`)
  else if (operator === '<<' || operator === '<<-') queueHereDocument(state, redirection)
  return redirection
}

function queueHereDocument(state: ParserState, redirection: Redirection): void {
  const delimiter = literalValue(redirection.target)
  if (delimiter === undefined || delimiter.includes('\n')) {
    markRestUncertain(state, 'the end of a here-document is not certain')
    return
  }
  const expands = plainText(redirection.target) !== undefined
  const tabs = redirection.operator === '<<-' ? 'stripped' : 'kept'
  state.pending.push({ redirection, delimiter, expands, tabs })
}

/** Reads the bodies of pending here-documents after a newline. */
export function readHereDocuments(state: ParserState): void {
  if (state.outerPending) markRestUncertain(state, 'shells differ in where a here-document begins')
  for (const { redirection, delimiter, expands, tabs } of state.pending.splice(0)) {
    const body = readLines(
      state,
      (line) => (tabs === 'stripped' ? line.replace(/^\t+/, '') : line),
      delimiter,
    )
    redirection.body = body
    if (!expands) continue
    if (body.includes('\\\n'))
      markRestUncertain(state, 'shells differ in how they join the lines of a here-document')
    readNested(state, (inner) => readExpanding(inner, { until: '', escapable: '$`\\' }), new Cursor(body))
  }
}

function readLines(state: ParserState, strip: (line: string) => string, delimiter: string): string {
  const { cursor } = state
  let body = ''
  while (!cursor.ended) {
    const line = strip(cursor.takeLine())
    if (line === delimiter) return body
    body += `${line}\n`
  }
  markRestUncertain(state, `the here-document does not end with ${JSON.stringify(delimiter)}`)
  return body
}
