import type { Dialect } from '../shell/reading.ts'
import type { Assignment, SimpleCommand } from '../shell/script.ts'
import type { Word } from '../shell/word.ts'

/** The commands that a command runs, as far as its words show. */
export interface Inside {
  /** Why the command may run something else than what is found here. */
  readonly doubts: readonly string[]
  readonly commands: readonly SimpleCommand[]
  readonly scripts: readonly { readonly text: string; readonly dialect: Dialect }[]
  /** Word lists that the inner command may begin with. */
  readonly guesses: readonly (readonly Word[])[]
  /** It runs the command within and does nothing else. */
  readonly transparent: boolean
}

export const nothingInside: Inside = {
  doubts: [],
  commands: [],
  scripts: [],
  guesses: [],
  transparent: false,
}

const maxGuesses = 64

/** Where the command within begins is not certain: it may be at any word that is no flag. */
export function guessesOf(words: readonly Word[]): readonly (readonly Word[])[] {
  return words
    .slice(1, maxGuesses)
    .map((_, index) => words.slice(index + 1))
    .filter(([first]) => first?.pieces[0]?.kind === 'text' && !first.pieces[0].text.startsWith('-'))
}

/** The command within reads what its wrapper was given to read. */
export function wrappedCommand(
  { redirections, sure }: SimpleCommand,
  words: readonly Word[],
  assignments: readonly Assignment[] = [],
): SimpleCommand {
  return { words, assignments, redirections: redirections.filter(({ body }) => body !== undefined), sure }
}
