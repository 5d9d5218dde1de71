import { Cursor } from './cursor.ts'
import { type Dialect, newParserState } from './parser-state.ts'
import { readCommands } from './read-commands.ts'
import type { Script } from './script.ts'

export const maxCommandBytes = 64 * 1024

/**
 * Finds every command that a shell may run for a text. It never throws: what cannot be parsed with certainty becomes a
 * uncertainty, and parsing continues after it.
 *
 * @example parseShell('cd / && rm -rf x').commands.length // 2
 */
export function parseShell(text: string, dialect: Dialect = 'posix'): Script {
  if (text.includes('\0')) return { commands: [], uncertainties: ['it contains a NUL character'] }
  if (isTooLong(text)) return { commands: [], uncertainties: [`it is longer than ${maxCommandBytes} bytes`] }
  const state = newParserState(new Cursor(text), dialect)
  readCommands(state, { until: 'end' })
  if (state.pending.length > 0) state.found.uncertainties.add('a here-document has no lines')
  return { commands: state.found.commands, uncertainties: [...state.found.uncertainties] }
}

export function isTooLong(text: string): boolean {
  return text.length > maxCommandBytes || new TextEncoder().encode(text).length > maxCommandBytes
}
