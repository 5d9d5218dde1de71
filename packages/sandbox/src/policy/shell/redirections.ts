import { Cursor } from './cursor.ts'
import { readExpanding } from './quotes.ts'
import { readWord } from './read-word.ts'
import { deeper, doubt, lose, type Reading } from './reading.ts'
import type { Redirection } from './script.ts'
import { knownText, plainText } from './word.ts'

/** A longer one stands before its beginning. */
const operators = ['&>>', '&>', '<<<', '<<-', '<<', '<&', '<>', '<', '>>', '>&', '>|', '>']

export function seesRedirection({ cursor }: Reading): boolean {
  const character = cursor.peek()
  if (character === '&') return cursor.sees('&>')
  return (character === '<' || character === '>') && !cursor.sees(`${character}(`)
}

/** At an operator. */
export function readRedirection(reading: Reading): Redirection {
  const { cursor } = reading
  const operator = operators.find((candidate) => cursor.eat(candidate)) ?? ''
  if (operator.startsWith('&') && reading.dialect !== 'bash') {
    doubt(reading, 'shells differ in what &> means')
  }
  cursor.skipBlanks()
  const redirection: Redirection = { operator, target: readWord(reading) }
  if (redirection.target.pieces.length === 0) lose(reading, `nothing follows ${operator}`)
  else if (operator === '<<' || operator === '<<-') awaitLines(reading, redirection)
  return redirection
}

function awaitLines(reading: Reading, redirection: Redirection): void {
  const delimiter = knownText(redirection.target)
  if (delimiter === undefined || delimiter.includes('\n')) {
    lose(reading, 'the end of a here-document is not certain')
    return
  }
  const expands = plainText(redirection.target) !== undefined
  const tabs = redirection.operator === '<<-' ? 'stripped' : 'kept'
  reading.pending.push({ redirection, delimiter, expands, tabs })
}

/** Behind a newline. */
export function readHereDocuments(reading: Reading): void {
  if (reading.outerPending) lose(reading, 'shells differ in where a here-document begins')
  for (const { redirection, delimiter, expands, tabs } of reading.pending.splice(0)) {
    const body = readLines(
      reading,
      (line) => (tabs === 'stripped' ? line.replace(/^\t+/, '') : line),
      delimiter,
    )
    redirection.body = body
    if (!expands) continue
    if (body.includes('\\\n')) lose(reading, 'shells differ in how they join the lines of a here-document')
    deeper(reading, (inner) => readExpanding(inner, { until: '', escapable: '$`\\' }), new Cursor(body))
  }
}

function readLines(reading: Reading, strip: (line: string) => string, delimiter: string): string {
  const { cursor } = reading
  let body = ''
  while (!cursor.ended) {
    const line = strip(cursor.takeLine())
    if (line === delimiter) return body
    body += `${line}\n`
  }
  lose(reading, `the here-document does not end with ${JSON.stringify(delimiter)}`)
  return body
}
