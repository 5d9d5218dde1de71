import { readPatterns } from './headers.ts'
import { addUncertainty, markRestUncertain, maxDepth, type ParserState } from './parser-state.ts'
import { readCommand } from './read-command.ts'
import { readHereDocuments, seesRedirection } from './redirections.ts'

const separators = ['&&', '||', '|&', ';', '&', '|']

/**
 * Reads commands up to the closing parenthesis, or to the end. After a syntax error, for which a shell would refuse the
 * whole text, it continues: one command too many is safe, one too few is not.
 */
export function readCommands(state: ParserState, { until }: { readonly until: ')' | 'end' }): void {
  const { cursor } = state
  let open = 0
  for (;;) {
    cursor.skipBlanks()
    if (cursor.peek() === '') {
      if (open > 0 || until === ')') markRestUncertain(state, 'a parenthesis is not closed')
      return
    }
    if (cursor.eat('\n')) readHereDocuments(state)
    else if (cursor.eat(')')) {
      if (open === 0 && until === ')') return
      if (open === 0) markRestUncertain(state, 'a parenthesis is closed that was not opened')
      else open -= 1
    } else if (cursor.eat('(')) {
      open += 1
      if (cursor.peek() === '(') addUncertainty(state, 'shells differ in what (( means')
      if (state.depth + open > maxDepth) markRestUncertain(state, `it is nested more than ${maxDepth} deep`)
    } else if (cursor.eat(';;&') || cursor.eat(';;') || cursor.eat(';&')) readPatterns(state)
    else if (seesRedirection(state) || !separators.some((separator) => cursor.eat(separator))) {
      readCommand(state)
    }
  }
}
