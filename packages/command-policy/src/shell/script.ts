import type { Word } from './word.ts'

export interface Assignment {
  readonly name: string
  readonly value: Word
}

export interface Redirection {
  readonly operator: string
  readonly target: Word
  /** The body of a here-document, once its lines are read. */
  body?: string
}

/** A program with its arguments, anywhere in a script. */
export interface SimpleCommand {
  readonly assignments: readonly Assignment[]
  readonly words: readonly Word[]
  readonly redirections: readonly Redirection[]
  /** False after text that could not be parsed: what follows may not be a command at all. */
  readonly certain: boolean
}

/** Every command that a script may run, in textual order. All branches of conditions and loops are included. */
export interface Script {
  readonly commands: readonly SimpleCommand[]
  /** Reasons why the script may run something else than these commands. */
  readonly uncertainties: readonly string[]
}
