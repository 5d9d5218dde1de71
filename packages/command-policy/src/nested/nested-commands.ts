import type { Dialect } from '../shell/parser-state.ts'
import type { Assignment, SimpleCommand } from '../shell/script.ts'
import { literalValue, type Word } from '../shell/word.ts'

export interface NestedScript {
  readonly text: string
  readonly dialect: Dialect
}

/** The commands that a command runs itself, as far as its words show. */
export interface NestedCommands {
  /** Reasons why the command may run something that is not listed here. */
  readonly uncertainties: readonly string[]
  /** Reasons why it runs what is written in files. An allow rule that names the program accepts them. */
  readonly unread: readonly string[]
  readonly commands: readonly SimpleCommand[]
  readonly scripts: readonly NestedScript[]
  /** Candidates for the words of the nested command, if its start is not certain. */
  readonly guesses: readonly (readonly Word[])[]
  /** Words that are a command only if the program, which is not known, runs its arguments. */
  readonly suspicions: readonly (readonly Word[])[]
  /** The command only runs the nested command and does nothing else. */
  readonly onlyRunsNested: boolean
}

export const noNestedCommands: NestedCommands = {
  uncertainties: [],
  unread: [],
  commands: [],
  scripts: [],
  guesses: [],
  suspicions: [],
  onlyRunsNested: false,
}

/** Words of a command that are looked at for a nested one. */
export const maxGuesses = 64

/** Candidates for a nested command whose start is not certain: it may start at any word that is not a flag. */
export function guessesOf(words: readonly Word[]): readonly (readonly Word[])[] {
  return words
    .slice(1, maxGuesses)
    .map((_, index) => words.slice(index + 1))
    .filter(([first]) => first?.pieces[0]?.kind === 'text' && !first.pieces[0].text.startsWith('-'))
}

/** Words of several words each may be scripts. */
export function possibleScripts(words: readonly Word[]): readonly NestedScript[] {
  return words.flatMap((word) => {
    const text = literalValue(word)
    return text?.includes(' ') ? [posixScript(text)] : []
  })
}

export function posixScript(text: string): NestedScript {
  return { text, dialect: 'posix' }
}

/** Builds a nested command. It inherits the here-documents of its wrapper, since it reads the same stdin. */
export function nestedCommand(
  { redirections, certain }: SimpleCommand,
  words: readonly Word[],
  assignments: readonly Assignment[] = [],
): SimpleCommand {
  return { words, assignments, redirections: redirections.filter(({ body }) => body !== undefined), certain }
}
