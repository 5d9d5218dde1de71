import { readPatterns } from './headers.ts'
import { readCommand } from './read-command.ts'
import { doubt, lose, maxDepth, type Reading } from './reading.ts'
import { readHereDocuments, seesRedirection } from './redirections.ts'

const separators = ['&&', '||', '|&', ';', '&', '|']

/**
 * Reads commands up to the closing parenthesis, or to the end. What a shell would refuse as a whole is read
 * on and judged: a command too many is safe, one too few is not.
 */
export function readCommands(reading: Reading, { until }: { readonly until: ')' | 'end' }): void {
  const { cursor } = reading
  let open = 0
  for (;;) {
    cursor.skipBlanks()
    if (cursor.peek() === '') {
      if (open > 0 || until === ')') lose(reading, 'a parenthesis is not closed')
      return
    }
    if (cursor.eat('\n')) readHereDocuments(reading)
    else if (cursor.eat(')')) {
      if (open === 0 && until === ')') return
      if (open === 0) lose(reading, 'a parenthesis is closed that was not opened')
      else open -= 1
    } else if (cursor.eat('(')) {
      open += 1
      if (cursor.peek() === '(') doubt(reading, 'shells differ in what (( means')
      if (reading.depth + open > maxDepth) lose(reading, `it is nested more than ${maxDepth} deep`)
    } else if (cursor.eat(';;&') || cursor.eat(';;') || cursor.eat(';&')) readPatterns(reading)
    else if (seesRedirection(reading) || !separators.some((separator) => cursor.eat(separator))) {
      readCommand(reading)
    }
  }
}
