/** What becomes of a command. */
export type Verdict = 'allow' | 'ask' | 'deny'

/**
 * A command with wildcards: `'git push *'`, or `['git', 'push', '*']`. A text is quoted as in a shell and may
 * name files it writes to: `'pnpm * > logs/*'`.
 */
export type Rule = string | readonly string[]

export interface CommandPolicyOptions {
  readonly allow?: readonly Rule[]
  readonly ask?: readonly Rule[]
  readonly deny?: readonly Rule[]
  /** For commands that no rule is about; default `ask`. */
  readonly otherwise?: Verdict
}
