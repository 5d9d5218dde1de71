import { readBackticks, readDollar } from './expansions.ts'
import { readDoubleQuotes, readSingleQuotes } from './quotes.ts'
import { readCommands } from './read-commands.ts'
import { deeper, doubt, type Reading } from './reading.ts'
import { settleWord, type Unsettled } from './settle-word.ts'
import type { HolePiece, Word } from './word.ts'

const ends = new Set(['', ' ', '\t', '\n', ';', '&', '|', '(', ')'])

/** The word here; it has no pieces where none begins. */
export function readWord(reading: Reading): Word {
  const { cursor } = reading
  const pieces: Unsettled[] = []
  for (;;) {
    const character = cursor.peek()
    if (ends.has(character)) break
    if (character === '<' || character === '>') {
      if (!cursor.sees(`${character}(`)) break
      pieces.push(readProcess(reading))
    } else if (character === '$') pieces.push(...readDollar(reading, 'unquoted'))
    else if (character === '`') pieces.push(readBackticks(reading, 'unquoted'))
    else {
      cursor.take()
      if (character === "'") pieces.push(readSingleQuotes(reading))
      else if (character === '"') pieces.push(...readDoubleQuotes(reading))
      else if (character === '\\')
        pieces.push({ kind: 'text', text: cursor.ended ? '\\' : cursor.takeRaw(), quoted: true })
      else if (character === '~' && pieces.length === 0) pieces.push({ kind: 'mark', mark: '~' })
      else if ('*?[{'.includes(character)) pieces.push({ kind: 'mark', mark: character })
      else pieces.push({ kind: 'text', text: character, quoted: false })
    }
  }
  return settleWord(pieces)
}

/** At `<(` or `>(`. */
function readProcess(reading: Reading): HolePiece {
  const { cursor } = reading
  const start = cursor.at
  doubt(reading, 'it uses a running command as a file')
  cursor.take()
  cursor.take()
  deeper(reading, (inner) => readCommands(inner, { until: ')' }))
  return { kind: 'hole', cause: 'substitution', shown: cursor.since(start), yields: 'one' }
}
