import { type Fields, numberIn, textIn, textsIn } from './fields.ts'

/** A short text for an operation: its command, path or port. */
export function subjectOf(data: Fields): string | undefined {
  const command = textsIn(data, 'argv') ?? textsIn(data, 'command')
  if (command !== undefined) return commandText(command)
  const text = textIn(data, 'command') ?? textIn(data, 'path') ?? textsIn(data, 'paths')?.join(' ')
  return text ?? numberIn(data, 'port')?.toString()
}

/**
 * A command as it would be typed in a shell.
 *
 * @example
 * commandText(['sh', '-c', 'echo hi']) // "sh -c 'echo hi'"
 */
export function commandText(argv: readonly string[]): string {
  return argv.map(quoted).join(' ')
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return `'${word.replaceAll("'", `'\\''`)}'`
}
