import { readBackticks, readDollar } from './expansions.ts'
import { addUncertainty, type ParserState, readNested } from './parser-state.ts'
import { readDoubleQuotes, readSingleQuotes } from './quotes.ts'
import { readCommands } from './read-commands.ts'
import { resolveMarks, type UnresolvedPiece } from './resolve-marks.ts'
import type { HolePiece, Word } from './word.ts'

const ends = new Set(['', ' ', '\t', '\n', ';', '&', '|', '(', ')'])

/** Reads the next word; it has no pieces if none begins here. */
export function readWord(state: ParserState): Word {
  const { cursor } = state
  const pieces: UnresolvedPiece[] = []
  for (;;) {
    const character = cursor.peek()
    if (ends.has(character)) break
    if (character === '<' || character === '>') {
      if (!cursor.sees(`${character}(`)) break
      pieces.push(readProcess(state))
    } else if (character === '$') pieces.push(...readDollar(state, 'unquoted'))
    else if (character === '`') pieces.push(readBackticks(state, 'unquoted'))
    else {
      cursor.take()
      if (character === "'") pieces.push(readSingleQuotes(state))
      else if (character === '"') pieces.push(...readDoubleQuotes(state))
      else if (character === '\\')
        pieces.push({ kind: 'text', text: cursor.ended ? '\\' : cursor.takeRaw(), quoted: true })
      else if (character === '~' && pieces.length === 0) pieces.push({ kind: 'mark', mark: '~' })
      else if ('*?[{'.includes(character)) pieces.push({ kind: 'mark', mark: character })
      else pieces.push({ kind: 'text', text: character, quoted: false })
    }
  }
  return resolveMarks(pieces)
}

/** Reads a process substitution from its `<(` or `>(`. */
function readProcess(state: ParserState): HolePiece {
  const { cursor } = state
  const start = cursor.at
  addUncertainty(state, 'it uses a running command as a file')
  cursor.take()
  cursor.take()
  readNested(state, (inner) => readCommands(inner, { until: ')' }))
  return { kind: 'hole', cause: 'substitution', written: cursor.since(start), yields: 'one' }
}
