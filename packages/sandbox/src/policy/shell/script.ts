import type { Word } from './word.ts'

export interface Assignment {
  readonly name: string
  readonly value: Word
}

export interface Redirection {
  readonly operator: string
  readonly target: Word
  /** Of a here-document, once its lines were read. */
  body?: string
}

/** One program with its arguments, wherever in the script it stands. */
export interface SimpleCommand {
  readonly assignments: readonly Assignment[]
  readonly words: readonly Word[]
  readonly redirections: readonly Redirection[]
  /** False after a place that could not be read: what is seen from there on may be no command at all. */
  readonly sure: boolean
}

/** Every command a script may run, in the order of reading; conditions and loops are read as if all of it ran. */
export interface Script {
  readonly commands: readonly SimpleCommand[]
  /** Why the script may run something else than its commands. */
  readonly doubts: readonly string[]
}
