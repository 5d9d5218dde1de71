import type { SimpleCommand } from './shell/script.ts'
import { displayText, type Word } from './shell/word.ts'

const maxCharacters = 200

/** The words of a command; if it has none, its assignments and redirections. */
export function argvOf({ assignments, words, redirections }: SimpleCommand): string[] {
  if (words.length > 0) return words.map(displayText)
  return [
    ...assignments.map(({ name, value }) => `${name}=${displayText(value)}`),
    ...redirections.map(({ operator, target }) => `${operator}${displayText(target)}`),
  ]
}

/** Formats a command for people: quotes show word boundaries, and control characters are escaped. */
export function formatWords(words: readonly Word[]): string {
  return formatArgv(
    words.map((word) => (word.pieces.every(isPlain) ? quoteIfNeeded(displayText(word)) : displayText(word))),
  )
}

export function formatCommand(command: SimpleCommand): string {
  return command.words.length > 0 ? formatWords(command.words) : formatArgv(argvOf(command))
}

/** Cuts after escaping and between code points, so that no surrogate pair is split. */
function formatArgv(argv: readonly string[]): string {
  // A code point has at most two units, and no escape is shorter than its character: this start has enough of them.
  const start = argv.join(' ').slice(0, 2 * maxCharacters + 2)
  const characters = [...escapeInvisible(start)]
  if (characters.length <= maxCharacters) return characters.join('')
  return `${characters.slice(0, maxCharacters).join('')}…`
}

/** Escapes control characters, format characters and lone surrogates by their code points. */
export function escapeInvisible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

function isPlain(piece: Word['pieces'][number]): boolean {
  return piece.kind === 'text'
}

function quoteIfNeeded(text: string): string {
  return /^[\w@%+=:,./~^*?{}[\]-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
