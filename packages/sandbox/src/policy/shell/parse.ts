import { Cursor } from './cursor.ts'
import { readCommands } from './read-commands.ts'
import { type Dialect, startReading } from './reading.ts'
import type { Script } from './script.ts'

export const maxCommandBytes = 64 * 1024

/**
 * Every command a shell may run for this text. It never fails: what cannot be read with certainty is a doubt,
 * and the reading goes on behind it.
 *
 * @example parseShell('cd / && rm -rf x').commands.length // 2
 */
export function parseShell(text: string, dialect: Dialect = 'posix'): Script {
  if (text.includes('\0')) return { commands: [], doubts: ['it holds a NUL character'] }
  if (isTooLong(text)) return { commands: [], doubts: [`it is longer than ${maxCommandBytes} bytes`] }
  const reading = startReading(new Cursor(text), dialect)
  readCommands(reading, { until: 'end' })
  if (reading.pending.length > 0) reading.found.doubts.add('a here-document has no lines')
  return { commands: reading.found.commands, doubts: [...reading.found.doubts] }
}

export function isTooLong(text: string): boolean {
  return text.length > maxCommandBytes || new TextEncoder().encode(text).length > maxCommandBytes
}
