import type { SimpleCommand } from './shell/script.ts'
import { shownText, type Word } from './shell/word.ts'

const maxShown = 200

/** The words of a command; if it has none, its assignments and redirections. */
export function argvOf({ assignments, words, redirections }: SimpleCommand): string[] {
  if (words.length > 0) return words.map(shownText)
  return [
    ...assignments.map(({ name, value }) => `${name}=${shownText(value)}`),
    ...redirections.map(({ operator, target }) => `${operator}${shownText(target)}`),
  ]
}

/** Formats a command for people: quotes show word boundaries, and control characters are escaped. */
export function formatWords(words: readonly Word[]): string {
  return showArgv(
    words.map((word) => (word.pieces.every(isPlain) ? quoteIfNeeded(shownText(word)) : shownText(word))),
  )
}

export function showCommand(command: SimpleCommand): string {
  return command.words.length > 0 ? formatWords(command.words) : showArgv(argvOf(command))
}

function showArgv(argv: readonly string[]): string {
  const text = argv.join(' ')
  const shown = text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
  return escapeInvisible(shown)
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
